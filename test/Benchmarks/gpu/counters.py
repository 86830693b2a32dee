"""Part 6: what ncu counts of one launch of the main kernels, where it is there.

counters.py FOLDER OUT --launch=KERNEL is that launch: what ncu starts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import partial
from typing import Any

import results
import speed
from arrays import Arrays
from kernels import Job, Kernels, piece
from part import Part, SkippedError

NCU = ("ncu", "--clock-control=none", "--set=full", "--kernel-name=regex:attend", "--launch-count=1")
NCU_SECONDS = 50
TOKENS, HEADS = 8192, 32
# Lines of its text: the name of a counter, a unit or none, a number.
SHOWN = re.compile(
    r"^ *(Duration|Elapsed Cycles|Registers Per Thread|Executed Ipc Active|Compute \(SM\) Throughput"
    r"|DRAM Throughput|L2 Hit Rate|No Eligible|Issued Warp) +(\S*) +([\d,.]+) *$",
    re.MULTILINE,
)


def launch(part: Part, name: str) -> None:
    """Once, 8 192 tokens."""
    what = next(each for each in part.artifacts("kernels") if each["name"] == name)
    kernels = Kernels(part, Arrays(part.is_emulated))
    q, k, v, out, lse = speed.tensors(kernels.arrays, 1, TOKENS, HEADS, what["head"], what["dtype"])
    slices = [piece((0, TOKENS), (0, TOKENS), **({"hi": 0} if what["mask"] == "causal" else {}))]
    kernels[what].run([Job(q, k, v, out, lse, slices, what["head"] ** -0.5)])


def count(part: Part, what: dict[str, Any], ncu: str | None) -> dict[str, Any]:
    """Some of the counters; all of them go to a file."""
    if ncu is None:
        raise SkippedError("no ncu on the PATH")
    if part.is_emulated:
        raise SkippedError("ncu counts nothing of the emulated device")
    command = [ncu, *NCU[1:], sys.executable, __file__, *sys.argv[1:], f"--launch={what['name']}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=NCU_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise SkippedError(f"ncu: no end after {NCU_SECONDS} s") from None
    found = SHOWN.findall(done.stdout)
    if not found:
        said = (done.stdout + done.stderr).strip().splitlines() or ["it said nothing"]
        raise SkippedError(f"ncu ended with {done.returncode}: {said[-1]}")
    path = part.out / results.PROFILE
    before = path.read_text() if path.exists() else ""
    results.overwrite(path, f"{before}{what['name']}\n\n{done.stdout}\n")
    return {"counters": [[name, f"{value} {unit}".strip()] for name, unit, value in found]}


def main() -> int:
    """The full and the causal kernel of heads of 128."""
    asked = [word.removeprefix("--launch=") for word in sys.argv if word.startswith("--launch=")]
    argv = [word for word in sys.argv[1:] if not word.startswith("--launch=")]
    part = Part("counters", __doc__, argv)
    if asked:
        launch(part, asked[0])
        return 0
    for mask in ("full", "causal"):
        what = speed.kernel_of(part, 128, mask)
        use = [(what, mask, False)]
        part.row(
            partial(count, part, what, shutil.which(NCU[0])), use, NCU_SECONDS + 5, kind="counters", mask=mask
        )
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
