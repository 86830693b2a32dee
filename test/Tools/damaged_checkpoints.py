"""damaged_checkpoints.py FOLDER CHECKPOINT: copies of a checkpoint, each with one thing wrong."""

import json
import os
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path

INDEX = "model.safetensors.index.json"
folder, checkpoint = map(Path, sys.argv[1:])
data = next(checkpoint.glob("*.safetensors")).name


def copy(name: str) -> Path:
    """Another one, whole yet."""
    shutil.rmtree(folder / name, ignore_errors=True)
    return Path(shutil.copytree(checkpoint, folder / name))


def damage(name: str, change: Callable[[bytes], bytes], file: str = data) -> None:
    """A copy of whose file the bytes are changed."""
    path = copy(name) / file
    path.write_bytes(change(path.read_bytes()))


def header(change: Callable[[dict], None]) -> Callable[[bytes], bytes]:
    """Changes the header of a file."""

    def run(content: bytes) -> bytes:
        (size,) = struct.unpack("<Q", content[:8])
        entries = json.loads(content[8 : 8 + size])
        change(entries)
        text = json.dumps(entries).encode()
        return struct.pack("<Q", len(text)) + text + content[8 + size :]

    return run


def entry(**fields: object) -> Callable[[bytes], bytes]:
    """Changes what the header says of arg0."""
    return header(lambda entries: entries["arg0"].update(fields))


(copy("lost") / data).unlink()
damage("short", lambda content: content[:5])
damage("truncated", lambda content: content[:-3])
damage("longer", lambda content: content + b"more")
damage("endless", lambda content: struct.pack("<Q", 1 << 62) + content[8:])
damage("text", lambda content: content[:8] + b"x" * (len(content) - 8))
damage("offsets", entry(data_offsets=[8, 24]))
damage("negative", entry(shape=[-4]))
damage("huge", entry(shape=[1 << 40, 1 << 40]))
damage("typeless", entry(dtype=7))
damage("shared", header(lambda all: all.update(more={"dtype": "U8", "shape": [4], "data_offsets": [2, 6]})))
damage("words", entry(dtype="I32"))
damage("shaped", entry(shape=[2, 2]))
damage("differing", header(lambda all: all.update(x0=all.pop("arg0"))))
damage("renamed", header(lambda all: all.update(x0=all.pop("arg0"))))
(folder / "renamed" / INDEX).write_text(json.dumps({"weight_map": {"x0": data}}))
damage("promising", lambda _: json.dumps({"weight_map": {"arg0": data, "more": data}}).encode(), INDEX)
damage("unlisted", lambda _: b'{"weight_map": {"arg0": 3}}', INDEX)
damage("unread", lambda _: b"{", INDEX)
damage("list", lambda _: b"[]", INDEX)
damage("deep", lambda _: b"[" * 200_000, INDEX)
damage("nameless", lambda _: b'{"weight_map": {"arg0": ""}}', INDEX)


def index(**fields: object) -> Callable[[bytes], bytes]:
    """Changes what the index says."""
    return lambda content: json.dumps(json.loads(content) | fields).encode()


damage("noted-number", index(metadata=3), INDEX)
damage("noted-null", index(metadata=None), INDEX)
damage("npz", index(weight_map={"arg0": "arg0.npz"}), INDEX)
damage("marked", lambda content: b"\xef\xbb\xbf" + content, INDEX)
for number, step in enumerate(("abc", -7, 1.5, str(10**23 - 1), "9" * 100, None)):
    damage(f"step{number}", index(metadata={"step": step}), INDEX)
damage("stepless", index(metadata={"note": "warm"}), INDEX)
for name, file in (("index-folder", INDEX), ("data-folder", data)):
    (copy(name) / file).unlink()
    (folder / name / file).mkdir()
for name, file in (("index-fifo", INDEX), ("data-fifo", data)):
    (copy(name) / file).unlink()
    os.mkfifo(folder / name / file)
(copy("index-unread") / INDEX).unlink()
(folder / "index-unread" / INDEX).symlink_to("/proc/self/mem")
os.truncate(copy("index-endless") / INDEX, 1 << 40)
