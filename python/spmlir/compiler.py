"""`sp-compile` from Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from .executable import Executable
from .exported import Exported
from .locations import check_path, find_tool


class CompileError(Exception):
    """The compiler refused the program or an option.

    diagnostic: what sp-compile printed: location, reason and, where there is one, the way out.
    """

    def __init__(self, diagnostic: str) -> None:
        """Keep the diagnostic as the message too."""
        super().__init__(diagnostic)
        self.diagnostic = diagnostic


class CompileWarning(UserWarning):
    """What a program loses unasked: a tensor that is gathered, work that ranks repeat, idle ranks."""


def compile(
    model: Exported | str | os.PathLike[str],
    *,
    mesh: str | Mapping[str, int] | None = None,
    strategy: str = "auto",
    output: str | os.PathLike[str] | None = None,
    far: str | os.PathLike[str] | None = None,
    options: Sequence[str] = (),
    **named: str | int | bool,
) -> Executable:
    """Compile a StableHLO program and load it.

    model: what `export` returned, StableHLO text, or the path of a file with text.
    mesh: axes and sizes, `{"dp": 2, "sp": 4}` or `"dp=2,sp=4"`; default: the module's own mesh.
    strategy: auto, none, allgather, ulysses, ring, split-kv; see `sp-compile --help`.
    output: where to keep the artifact; default: a temporary file that goes with the Executable.
    far: with `offload="host"` the directory of far memory; default: memory. Warns where nothing goes there.
    named: any other option of sp-compile by its name with underscores: `seq_axis="sp"`,
        `layout="zigzag"`, `precision="f64"`, `bidirectional=True`.
    options: further arguments, passed on as they are.
    Warns (CompileWarning) of what the program loses: what is gathered, what ranks repeat, ranks without
    work; `strict=True` makes errors of them. All of them are in `report["warnings"]`.
    Raises CompileError with the compiler's diagnostic, FileNotFoundError when sp-compile is not
    found or `model` names no file, and TypeError for a model of another kind, such as a function.
    """
    folder = _Folder()
    source = _source(model, folder.path)
    artifact = Path(output) if output is not None else folder.path / "model.spx"
    report = folder.path / "report.json"
    command = [str(find_tool("sp-compile")), str(source), "-o", str(artifact), f"--report={report}"]
    if mesh is not None:
        axes = mesh if isinstance(mesh, str) else ",".join(f"{axis}={size}" for axis, size in mesh.items())
        command.append(f"--mesh={axes}")
    command.append(f"--strategy={strategy}")
    command += [_option(name, value) for name, value in named.items() if value is not False]
    command += options
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(done.stderr.strip() or f"sp-compile ended with status {done.returncode}")
    asks = any(text.startswith("--offload=") for text in command) and "--offload=none" not in command
    told = json.loads(report.read_text())
    found = told["warnings"]
    if far is not None and asks and "farPeakBytesPerRank" not in told:
        _warn(f"nothing goes to far memory in {os.fspath(far)}: it would not help", UserWarning)
        found = [one for one in found if one["name"] not in ("NothingFar", "NothingWaits")]
        far = None
    for one in found:
        _warn(f"{one['location']}: {one['text']}", CompileWarning)
    return Executable(artifact, far=far, report=report, keep=folder)


class _Folder:
    """A temporary folder, which goes with this object, or with Python.

    Unlike TemporaryDirectory, which warns of whoever leaves that to it.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="spmlir-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _warn(text: str, category: type[Warning]) -> None:
    """Warn at the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _option(name: str, value: str | int | bool) -> str:
    flag = "--" + name.replace("_", "-")
    return flag if value is True else f"{flag}={value}"


def _source(model: Exported | str | os.PathLike[str], folder: Path) -> Path:
    if isinstance(model, Exported):
        text = model.text
    elif isinstance(model, str) and ("\n" in model or "{" in model):
        text = model
    else:
        check_path(model, "what spmlir.export returned, StableHLO text or the path of a file")
        path = Path(model)
        if not path.is_file():
            raise FileNotFoundError(
                f"there is no model {str(path)!r}; expected StableHLO text or the path of a file"
            )
        return path
    source = folder / "model.mlir"
    source.write_text(text)
    return source
