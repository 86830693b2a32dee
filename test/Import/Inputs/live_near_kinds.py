"""Imports attentions with one operation that acts on some data only: what is found, and what remarks name."""

import re
import subprocess
import sys
from pathlib import Path

import jax
from live import report

sys.path.append(str(Path(__file__).parents[2] / "Execution"))
import near_gradients
import near_kinds
import near_rows

KINDS = near_kinds.KINDS | near_rows.KINDS | near_gradients.KINDS


def check(name, gradients):
    """What is wrong with one, or None."""
    kind = KINDS[name]
    fn, arrays = kind.fn, kind.arrays()
    if gradients:
        fn, arrays = kind.differentiated(fn)
    text = jax.jit(fn).lower(*arrays).as_text(debug_info=True)
    command = [
        "sp-opt",
        "-",
        "--sp-import-pipeline",
        "--sp-checkpoint-pipeline",
        "--remarks-filter=sp-import-attention",
    ]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    found = len(re.findall(r"sp\.attention(?:_backward)?\(", done.stdout))
    expected = kind.backward if gradients else kind.forward
    where = f"{name}{' with gradients' if gradients else ''}"
    if found != expected:
        return f"{where}: expected {expected} attentions but got {found}: {done.stderr}"
    if expected == 0 and (kind.named not in done.stderr or ".py:" not in done.stderr):
        return f"{where}: expected a remark that names '{kind.named}' and its line but got {done.stderr}"
    return None


if __name__ == "__main__":
    sys.exit(report([(name, gradients) for name in KINDS for gradients in (False, True)], check))
