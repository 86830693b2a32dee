"""Files of a checkpoint that are damaged, or none, and folders that hold more than one."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from spmlir.checkpoints import INDEX, CheckpointError, load, save

DATA = "model-00001-00001-of-00001.safetensors"
ARRAYS = {"w": np.arange(4, dtype=np.float32)}
WANTED = {"w": ((4,), np.dtype(np.float32))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint."""
    save(tmp_path / "state", ARRAYS, {"step": "1"})
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("dtype", "shape"), [("F8_E4M3", [16]), ("F8_E5M2", [16]), ("F4", [32]), ("BF16", [8]), ("I64", [2])]
)
def test_other_elements_are_refused(folder, dtype, shape):
    content = (folder / DATA).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    header["w"].update(dtype=dtype, shape=shape)
    text = json.dumps(header).encode()
    (folder / DATA).write_bytes(struct.pack("<Q", len(text)) + text + content[8 + size :])
    with pytest.raises(CheckpointError, match=r"elements of a type that NumPy lacks|where the model has"):
        load(folder, WANTED)


@pytest.mark.parametrize("text", ["", "[" * 200_000, "1" * 5000, '{"weight_map": {"w": ""}}', "\0"])
def test_a_damaged_index_is_refused(folder, text):
    (folder / INDEX).write_text(text)
    with pytest.raises(CheckpointError, match=f"but {INDEX} cannot be read: "):
        load(folder, WANTED)


@pytest.mark.parametrize("file", [INDEX, DATA])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_not_read(folder, file, make):
    (folder / file).unlink()
    make(folder / file)
    with pytest.raises(CheckpointError, match=f"but {file} cannot be read: it is no regular file"):
        load(folder, WANTED)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"metadata": 3}, "expected metadata to be an object but got 3"),
        ({"metadata": None}, "expected metadata to be an object but got null"),
        ({"metadata": {"step": float("nan")}}, "expected JSON but got NaN"),
        ({"weight_map": {"w": "w.npz"}}, 'expected a .safetensors file for w but got "w.npz"'),
        ({"weight_map": {"w": f"{DATA}/"}}, f'expected a .safetensors file for w but got "{DATA}/"'),
        ({"weight_map": {"w": ["x" * 100]}}, r'expected a .safetensors file for w but got \["x{58}\.\.\.'),
    ],
)
def test_an_index_says_what_it_must(folder, changed, said):
    index = json.loads((folder / INDEX).read_text())
    (folder / INDEX).write_text(json.dumps(index | changed))
    with pytest.raises(CheckpointError, match=f"but {INDEX} cannot be read: .*{said}"):
        load(folder, WANTED)


def test_a_byte_order_mark_is_refused(folder):
    (folder / INDEX).write_bytes(b"\xef\xbb\xbf" + (folder / INDEX).read_bytes())
    with pytest.raises(CheckpointError, match="begins with a byte order mark; write it as UTF-8 without one"):
        load(folder, WANTED)


def test_files_are_those_of_safetensors(folder):
    """As the package writes them, byte for byte, for all types that it reads."""
    import ml_dtypes
    from safetensors.numpy import save_file

    arrays = {
        f"a.{dtype}": np.arange(count).astype(dtype)
        for count, dtype in enumerate((bool, "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", ">f8"))
    }
    arrays |= {"größe": np.ones((2, 3), ml_dtypes.bfloat16).T, "one": np.float32(3).reshape(())}
    save(folder, arrays, {})
    (file,) = folder.glob("*.safetensors")
    save_file({name: np.asarray(each, order="C") for name, each in arrays.items()}, folder / "theirs")
    assert file.read_bytes() == (folder / "theirs").read_bytes()
    got, _ = load(folder, {name: (each.shape, each.dtype.newbyteorder("=")) for name, each in arrays.items()})
    assert all((a == b).all() for a, b in zip(got, arrays.values(), strict=True))


def test_folders_are_left_alone(folder):
    later = "model-00007-00001-of-00002.safetensors"
    endless = f"model-{2**63 - 1}-00001-of-00001.safetensors"
    (folder / ".sprt-x").mkdir()
    (folder / later).mkdir()
    (folder / endless).touch()
    (folder / ".sprt-1-0").touch()
    save(folder, ARRAYS, {"step": "2"})
    assert load(folder, WANTED)[1] == {"step": "2"}
    assert sorted(path.name for path in folder.iterdir()) == [
        ".sprt-x",
        later,
        "model-00008-00001-of-00001.safetensors",
        endless,
        INDEX,
    ]


def test_names_that_the_files_need_are_refused(folder):
    with pytest.raises(ValueError, match="expected an array of another name than '__metadata__'"):
        save(folder, {"__metadata__": ARRAYS["w"]}, {})
    with pytest.raises(ValueError, match="expected metadata of another name than 'total_size'"):
        save(folder, ARRAYS, {"total_size": "7"})
    assert load(folder, WANTED)[1] == {"step": "1"}


def test_metadata_is_text(folder):
    index = json.loads((folder / INDEX).read_text())
    index["metadata"] |= {"step": 12, "rates": [1, 2]}
    (folder / INDEX).write_text(json.dumps(index))
    assert load(folder, WANTED)[1] == {"step": "12", "rates": "[1, 2]"}
