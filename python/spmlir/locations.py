"""Where the tools and the runtime library are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def find_tool(name: str) -> Path:
    """The path of a tool such as `sp-compile`.

    Looked for under SPMLIR_HOME, inside the installed package, in the build folder
    of the checkout that holds this package, and on PATH, in that order.
    Raises FileNotFoundError that says where it looked.
    """
    looked = []
    for home in _homes():
        looked.append(str(home / "bin"))
        path = home / "bin" / name
        if os.access(path, os.X_OK):
            return path
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    raise FileNotFoundError(f"{name} is not in {', '.join(looked)} nor on PATH; {_WAY_OUT}")


def find_library() -> Path:
    """The path of the runtime library, looked for as `find_tool` does, in `lib`."""
    looked = []
    for home in _homes():
        looked.append(str(home / "lib"))
        path = home / "lib" / "libsprt.so"
        if path.exists():
            return path
    raise FileNotFoundError(f"libsprt.so is not in {', '.join(looked)}; {_WAY_OUT}")


def check_path(given: object, expected: str) -> None:
    """Raises TypeError, with what to do instead, where `given` is no path, as `expected` calls it."""
    if isinstance(given, (str, os.PathLike)):
        return
    name = getattr(given, "__qualname__", type(given).__name__)
    wanted = f"expected {expected} but got {name}, a {type(given).__name__}"
    if callable(given):
        raise TypeError(f"{wanted}; give spmlir.compile what spmlir.export({name}, *arguments) returns")
    raise TypeError(wanted)


_WAY_OUT = "build the project (tools/setup) or set SPMLIR_HOME to the folder that holds bin and lib"


def _homes() -> Iterator[Path]:
    if "SPMLIR_HOME" in os.environ:
        yield Path(os.environ["SPMLIR_HOME"])
        return
    package = Path(__file__).resolve().parent
    if (package / "lib" / "libsprt.so").exists():
        yield package
    checkout = package.parent.parent
    if (checkout / "CMakePresets.json").exists():
        yield checkout / "build"
