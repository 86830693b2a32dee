"""damaged_arrays.py FOLDER: .npz files whose members promise more than there is."""

import io
import pathlib
import struct
import sys
import zipfile

import numpy as np

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)


def member(shape: tuple[int, ...], data: bytes) -> bytes:
    """A .npy with a header of that shape before any data."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def write(name: str, content: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of one member, `arg0`; returns its bytes."""
    path = folder / f"{name}.npz"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("arg0.npy", content)
    return path.read_bytes()


write("promising", member((1 << 40,), b"\0" * 64))
write("overflowing", member((1 << 40, 1 << 40), b"\0" * 64))
whole = write("whole", member((1000,), b"\0" * 4000))
(folder / "truncated.npz").write_bytes(whole[:3000])
# The directory says that a few bytes are terabytes.
for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    content = bytearray(write(name, member((1 << 29,), b"\0" * 64), method))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", (1 << 31) + 128)
    (folder / f"{name}.npz").write_bytes(bytes(content))
