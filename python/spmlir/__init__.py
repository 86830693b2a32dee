"""Sequence-parallel attention, compiled ahead of time.

    exported = spmlir.export(model, *arguments)          # StableHLO text and inputs, from JAX
    program = spmlir.compile(exported, mesh={"sp": 8})   # sp-compile
    result, = program(*exported.inputs)                  # 8 ranks as threads

NumPy is the only requirement; JAX and torch are imported where they are used.
"""

from .batches import BatchPlan, pack, pack_rows, plan_batch
from .checkpoints import CheckpointError
from .compiler import CompileError, CompileWarning, compile
from .drawing import draw_batch
from .executable import Executable
from .exported import Exported, export
from .runtime import RunError
from .training import TrainStep, train_step

__all__ = [
    "BatchPlan",
    "CheckpointError",
    "CompileError",
    "CompileWarning",
    "Executable",
    "Exported",
    "RunError",
    "TrainStep",
    "compile",
    "draw_batch",
    "export",
    "pack",
    "pack_rows",
    "plan_batch",
    "train_step",
]
__version__ = "0.1.0"
