"""Arrays of a training in a folder: safetensors files and the index that says which file has which array."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

INDEX = "model.safetensors.index.json"
# Of one file, unless a single array is larger.
_MOST_BYTES = 4 * 2**30


class CheckpointError(ValueError):
    """A folder without a checkpoint, or with one of another model."""


def save(
    folder: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write arrays by name, and metadata, as a folder that replaces one that is there.

    A checkpoint that is there stays until the new one is whole.
    Raises OSError where that cannot be written, ImportError without the package safetensors.
    """
    from safetensors.numpy import save_file

    parts: list[dict[str, np.ndarray]] = [{}]
    for name, array in arrays.items():
        if parts[-1] and sum(each.nbytes for each in parts[-1].values()) + array.nbytes > _MOST_BYTES:
            parts.append({})
        parts[-1][name] = np.asarray(array, order="C")
    target = Path(folder)
    draft, old = (target.with_name(f".{target.name}.{end}") for end in ("new", "old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    places = {}
    for number, part in enumerate(parts, 1):
        file = f"model-{number:05}-of-{len(parts):05}.safetensors"
        save_file(part, draft / file)
        places |= dict.fromkeys(part, file)
    total = sum(array.nbytes for array in arrays.values())
    index = {"metadata": {"total_size": total, **metadata}, "weight_map": places}
    (draft / INDEX).write_text(json.dumps(index, indent=2) + "\n")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    draft.rename(target)
    shutil.rmtree(old, ignore_errors=True)


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
    try:
        index = json.loads(path.read_text())
        places, metadata = index["weight_map"], dict(index["metadata"])
        arrays: dict[str, np.ndarray] = {}
        for file in sorted(set(places.values())):
            arrays |= load_file(path.with_name(Path(file).name))
    except FileNotFoundError as error:
        raise CheckpointError(
            f"expected a checkpoint in {path.parent} but there is no {error.filename}"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, SafetensorError) as error:
        raise CheckpointError(
            f"expected a checkpoint in {path.parent} but it cannot be read: {error}"
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
        raise CheckpointError(f"expected the state of this model in {path.parent} but {_listed(problems)}")
    metadata.pop("total_size", None)
    return [arrays[name] for name in wanted], metadata


def _listed(problems: Sequence[str]) -> str:
    most = 8
    rest = f", and {len(problems) - most} more" if len(problems) > most else ""
    return ", ".join(problems[:most]) + rest
