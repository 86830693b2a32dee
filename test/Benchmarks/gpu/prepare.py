"""Builds all that a GPU run needs into one folder: artifacts, expected results, sp-run and its libraries.

prepare.py BUILD FOLDER [--dry]; --dry: the small sizes of a run on the emulated device.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import models
import tile_table

MOST_BYTES = 40 << 20
HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
# Of the C library and the C++ compiler; every machine that runs torch has them.
SYSTEM = r"(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)[.-]"
# Every artifact also runs on the emulated device, on any CPU of that level.
TARGET = ("--target=cuda", "--emulation", "--cpu=x86-64-v3")


class Workshop:
    """Where artifacts are made."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.build, self.folder = build, folder
        self.packed, self.models = folder / "packed", folder / "models"
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("bin", "lib"):
            (self.packed / name).mkdir(parents=True)

    def tool(self, name: str, *arguments: object) -> None:
        command = [str(word) for word in (self.build / "bin" / name, *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stderr}")

    def expect(self, job: models.Expected) -> None:
        """Writes what the program gives on the CPU, unsharded."""
        folder = self.models / job.model
        artifact = folder / "cpu.spx"
        self.tool("sp-compile", folder / "model.mlir", "-o", artifact, "--mesh=sp=1", "--strategy=none")
        self.tool("sp-run", artifact, *job.inputs(), f"--outputs={self.packed / job.file}")

    def compile(self, job: models.Artifact) -> dict[str, Any] | None:
        """The manifest's entry of an artifact; where it was refused, with the reason, or none."""
        path = self.packed / job.file
        path.parent.mkdir(parents=True, exist_ok=True)
        model = self.models / job.model / "model.mlir"
        command = [self.build / "bin" / "sp-compile", model, "-o", path, *TARGET, *job.options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        entry = job.entry()
        if done.returncode and job.optional:
            reason = next(iter(done.stderr.splitlines()), f"sp-compile ended with {done.returncode}")
            print(f"{job.file} is left out: {reason}", file=sys.stderr)
            return None
        if done.returncode:
            entry["refused"] = done.stderr.strip()[-1000:]
            print(f"{job.file}: {entry['refused']}", file=sys.stderr)
        return entry

    def add_runtime(self) -> None:
        """sp-run and libgpu-attention.so, and what they need."""
        run, kernels = self.build / "bin" / "sp-run", self.build / "lib" / "libgpu-attention.so"
        listed = subprocess.run(["ldd", run, kernels], capture_output=True, text=True, check=True).stdout
        needed = map(Path, re.findall(r"=> (/\S+)", listed))
        shutil.copy(run, self.packed / "bin")
        for path in {kernels, *(path for path in needed if not re.match(SYSTEM, path.name))}:
            shutil.copy(path, self.packed / "lib")

    def pack(self) -> None:
        """One archive: most of it is a library that GPUs do not call."""
        shutil.make_archive(str(self.folder / "prepared"), "gztar", self.packed)
        shutil.rmtree(self.packed)
        shutil.rmtree(self.models)


def commit() -> str:
    """Of the repository, with a + where files differ from it; empty outside of one."""
    git = ["git", "-C", str(REPOSITORY)]
    name = subprocess.run(
        [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    )
    changes = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False)
    return name.stdout.strip() + ("+" if changes.stdout.strip() else "")


def main() -> None:
    """Make the folder, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dry", action="store_true")
    args = parser.parse_args()
    shop = Workshop(args.build.resolve(), args.folder.resolve())
    plan = models.plan(args.dry)
    for name, export in plan.models.items():
        export().save(shop.models / name)
    shop.add_runtime()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        entries = pool.map(shop.compile, plan.artifacts)
        list(pool.map(shop.expect, plan.expected))
    shop.pack()
    manifest = {"version": 1, "commit": commit(), "dry": args.dry, "artifacts": list(filter(None, entries))}
    (shop.folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    scripts = shop.folder / "scripts"
    scripts.mkdir()
    for script in (*HERE.glob("*.py"), tile_table.PATH):
        shutil.copy(script, scripts)
    size = check_size(shop.folder)
    print(f"{shop.folder}: {len(manifest['artifacts'])} artifacts, {size / 2**20:.1f} MiB")


def check_size(folder: Path, most: int = MOST_BYTES) -> int:
    """Bytes of the folder; SystemExit with the largest files where these are too many."""
    sizes = sorted((path.stat().st_size, path) for path in folder.rglob("*") if path.is_file())
    size = sum(each for each, _ in sizes)
    if size > most:
        largest = ", ".join(f"{path.relative_to(folder)} {each / 2**20:.1f}" for each, path in sizes[:-4:-1])
        raise SystemExit(
            f"expected at most {most / 2**20:.1f} MiB in {folder} but got {size / 2**20:.1f}, of which the "
            f"largest: {largest}; take programs out of {HERE / 'models.py'}"
        )
    return size


if __name__ == "__main__":
    try:
        main()
    except OSError as failure:
        raise SystemExit(f"gpu.sh --prepare: {failure}") from None
