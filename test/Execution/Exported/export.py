"""Writes what the test of exported torch models reads: programs, arguments and results.

Versions: Python 3.11, torch 2.9.1, torchax 0.0.13, transformers 5.23.0, jax 0.10.2. In an
environment of its own, which the tests themselves do not need:

    python3 -m venv torch && torch/bin/pip install torch==2.9.1 torchax==0.0.13 transformers==5.23.0 \
        jax==0.10.2 jaxlib==0.10.2 && torch/bin/python test/Execution/Exported/export.py

Each program is NAME.mlir.gz, StableHLO text, and NAME.npz: arg0, arg1, … in the order of
@main's arguments, weights among them, and result0 as torch computed it in float32.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.export
import numpy as np
import torch
import torchax
import torchax.export
from torch.nn.attention import SDPBackend, sdpa_kernel

import decoders
import encoders
from families import Family

FAMILIES = decoders.FAMILIES | encoders.FAMILIES
# JAX's results against torch's.
TOLERANCE = 2e-5


class Called(torch.nn.Module):
    """A model called with positional tensors, of whose outputs one is kept."""

    def __init__(self, model: torch.nn.Module, names: list[str], output: str) -> None:
        """names: of the tensors, in order."""
        super().__init__()
        self.model, self.names, self.output = model, names, output

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        """The output named at construction."""
        return self.model(**dict(zip(self.names, tensors, strict=True)), return_dict=True)[self.output]


def written(folder: Path, name: str, family: Family, implementation: str) -> str:
    """Export one program, write its files, and say what they hold."""
    inputs = family.inputs()
    module = Called(family.make(implementation), list(inputs), family.output)
    with torch.no_grad():
        result = module(*inputs.values()).numpy()
        kernel = sdpa_kernel(SDPBackend.MATH) if family.math else contextlib.nullcontext()
        with kernel:
            program = torch.export.export(module, tuple(inputs.values()), strict=False).run_decompositions()
    jax.config.update("jax_enable_x64", family.wide)
    states, function = torchax.export.exported_program_to_jax(program)
    arguments = (states, tuple(jax.numpy.asarray(value.numpy()) for value in inputs.values()))
    exported = jax.export.export(jax.jit(function))(*arguments)
    (again,) = jax.jit(function)(*arguments)
    error = np.abs(again - result).max() / np.abs(result).max()
    if not error <= TOLERANCE:
        print(f"{name}: JAX's result differs from torch's by {error:.1e} of its largest entry")
    leaves = jax.tree.leaves(arguments)
    kept = [np.asarray(leaves[i]) for i in exported.module_kept_var_idx]
    text = exported.mlir_module()
    # No time stamp: the same program is the same file.
    (folder / f"{name}.mlir.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    np.savez_compressed(folder / f"{name}.npz", **{f"arg{i}": x for i, x in enumerate(kept)}, result0=result)
    size = sum((folder / f"{name}{end}").stat().st_size for end in (".mlir.gz", ".npz"))
    return f"{name}: {len(text)} characters, {len(kept)} arguments, {size} bytes, error {error:.1e}"


def main() -> None:
    """Write every program, or those of the families named."""
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/(site-packages|Exported)/")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("families", nargs="*", help="all of them where none is named")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    args = parser.parse_args()
    for name in args.families or FAMILIES:
        family = FAMILIES[name]
        for implementation in family.implementations:
            print(written(args.output, f"{name}-{implementation}", family, implementation), flush=True)


if __name__ == "__main__":
    main()
