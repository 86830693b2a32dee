"""Arrays of a training in a folder: safetensors files and the index that says which file has which array."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

INDEX = "model.safetensors.index.json"
# Of one file, unless a single array is larger.
_MOST_BYTES = 4 * 2**30
# What the index says of all bytes, among the metadata.
_SIZE = "total_size"


class CheckpointError(ValueError):
    """A folder without a checkpoint, or with one of another model."""


def save(
    folder: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write arrays by name, and metadata, into a folder, where they replace a checkpoint that is there.

    That one stays until the new one is whole: files of another time have other names, and then the
    index takes the place of the one before. `sp-run --save` does the same.
    Raises ValueError for an array or metadata of a name that the files need for themselves, OSError
    where that cannot be written, and ImportError without the package safetensors.
    """
    for what, names, own in (("an array", arrays, "__metadata__"), ("metadata", metadata, _SIZE)):
        if own in names:
            raise ValueError(
                f"expected {what} of another name than {own!r}, which checkpoints use; call it otherwise"
            )
    parts: list[dict[str, np.ndarray]] = [{}]
    for name, array in arrays.items():
        if parts[-1] and sum(each.nbytes for each in parts[-1].values()) + array.nbytes > _MOST_BYTES:
            parts.append({})
        parts[-1][name] = np.asarray(array, order="C")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    time = max((_time_of(path.name) for path in target.iterdir()), default=0) + 1
    places: dict[str, str] = {}
    for number, part in enumerate(parts, 1):
        file = f"model-{max(time, 1):05}-{number:05}-of-{len(parts):05}.safetensors"
        _write(target / file, part)
        places |= dict.fromkeys(part, file)
    total = sum(array.nbytes for array in arrays.values())
    index = {"metadata": {_SIZE: total, **metadata}, "weight_map": places}
    draft = target / f".sprt-{INDEX}"
    draft.write_text(json.dumps(index, indent=2) + "\n")
    _keep(draft)
    _keep(target)
    draft.replace(target / INDEX)
    _keep(target)
    files = set(places.values())
    for path in target.iterdir():
        is_other = _time_of(path.name) >= 0 and path.name not in files
        # Whose folder it is, nobody knows.
        if (is_other or path.name.startswith(".sprt-")) and (path.is_symlink() or not path.is_dir()):
            path.unlink(missing_ok=True)


def _write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file of safetensors that is not there yet.

    Whoever is killed meanwhile leaves it, by a name that the next one clears. The package would leave a
    draft under any name, or hold all bytes once more: it says the order and how types are called.
    """
    from safetensors.numpy import save

    empty = save({name: np.empty(0, array.dtype) for name, array in arrays.items()})
    header = json.loads(empty[8 : 8 + int.from_bytes(empty[:8], "little")])
    end = 0
    for name, entry in header.items():
        begin, end = end, end + arrays[name].nbytes
        entry |= {"shape": arrays[name].shape, "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as file:
        try:
            file.write(len(text).to_bytes(8, "little") + text)
            for name in header:
                array = arrays[name].astype(arrays[name].dtype.newbyteorder("<"), copy=False)
                file.write(array.reshape(-1).view(np.uint8))
            file.flush()
            _keep(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _time_of(name: str) -> int:
    """Which time a file of a checkpoint is of, 0 for a name that has none; -1 for other files."""
    found = re.fullmatch(r"model-(?:([0-9]{1,18})-)?[0-9]+-of-[0-9]+\.safetensors", name)
    return int(found[1] or 0) if found else -1


def _keep(path: Path) -> None:
    """Wait until a file, or the names in a folder, would survive the machine."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def load(
    folder: str | os.PathLike[str], wanted: Mapping[str, tuple[tuple[int, ...], np.dtype]]
) -> tuple[list[np.ndarray], dict[str, str]]:
    """The arrays of these names, shapes and types, in their order, and the metadata.

    Raises CheckpointError, which lists what is missing, left over, or of another shape or type, and
    ImportError without the package safetensors.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = Path(folder) / INDEX
    reading = INDEX
    try:
        places, metadata = _read_index(path)
        arrays: dict[str, np.ndarray] = {}
        for file in sorted(set(places.values())):
            reading = Path(file).name
            _check_regular(path.with_name(reading))
            try:
                loaded = load_file(path.with_name(reading))
            except (AttributeError, KeyError, TypeError) as error:
                raise ValueError(f"it has elements of a type that NumPy lacks: {error}") from None
            own = {name for name, place in places.items() if place == file}
            if own != loaded.keys():
                odd = sorted(own ^ loaded.keys())
                raise ValueError(f"{INDEX} and it differ in {_listed(odd)}")
            arrays |= loaded
    except FileNotFoundError:
        raise CheckpointError(
            f"expected a checkpoint in {path.parent} but there is no {path.with_name(reading)}"
        ) from None
    except (OSError, ValueError, RecursionError, MemoryError, SafetensorError) as error:
        raise CheckpointError(
            f"expected a checkpoint in {path.parent} but {reading} cannot be read: {error}"
        ) from None
    problems = [f"{name} is missing" for name in wanted if name not in arrays]
    problems += [f"{name} is none of the model's" for name in arrays if name not in wanted]
    for name, (shape, dtype) in wanted.items():
        got = arrays.get(name)
        if got is not None and (got.shape, got.dtype) != (shape, dtype):
            problems.append(
                f"{name} is {got.dtype}{list(got.shape)} where the model has {np.dtype(dtype)}{list(shape)}"
            )
    if problems:
        raise CheckpointError(
            f"expected the state of this model in {path.parent} but {_listed(problems)}; "
            "load what was saved of this model, under any mesh"
        )
    metadata.pop(_SIZE, None)
    return [arrays[name] for name in wanted], metadata


def _check_regular(path: Path) -> None:
    """That what lies there has an end: others may keep a reader waiting for ever."""
    if path.exists() and not path.is_file():
        raise ValueError("it is no regular file")


def _read_index(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Which file has which array, and what else was saved."""
    _check_regular(path)
    content = path.read_bytes()
    if content.startswith(codecs.BOM_UTF8):
        raise ValueError("expected JSON but it begins with a byte order mark; write it as UTF-8 without one")
    index = json.loads(content.decode(), parse_constant=_refuse_constant)
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict):
        raise ValueError("it has no weight_map that says the file of each array")
    for name, file in places.items():
        if not isinstance(file, str) or os.path.splitext(file)[1] != ".safetensors":
            raise ValueError(
                "it has no weight_map that says the file of each array: "
                f"expected a .safetensors file for {name} but got {_excerpt(file)}"
            )
    metadata = index.get("metadata", {})
    if not isinstance(metadata, dict):
        raise ValueError(f"expected metadata to be an object but got {_excerpt(metadata)}")
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    return places, texts


def _refuse_constant(text: str) -> None:
    """NaN and infinities, which JSON lacks."""
    raise ValueError(f"expected JSON but got {text}, which it lacks")


def _excerpt(value: Any) -> str:
    most = 60
    text = json.dumps(value)
    return text if len(text) <= most else f"{text[:most]}..."


def _listed(problems: Sequence[str]) -> str:
    most = 8
    rest = f", and {len(problems) - most} more" if len(problems) > most else ""
    return ", ".join(problems[:most]) + rest
