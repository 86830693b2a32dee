"""The tools, as a shell calls them."""

import subprocess
from pathlib import Path

import numpy as np

import spmlir


def sp_run(trainer: spmlir.TrainStep, plan: str, folder: Path, *options: str) -> dict:
    """Results of the trainer's step under sp-run."""
    trainer.exported.save(folder)
    program = folder / "program.spx"
    subprocess.run(["sp-compile", folder / "model.mlir", *plan.split(), "-o", program], check=True)
    command = ["sp-run", program, f"--inputs={folder}/inputs.npz", f"--outputs={folder}/out.npz", *options]
    subprocess.run(command, check=True, capture_output=True)
    return dict(np.load(folder / "out.npz"))
