"""Part 1: whether it is worth going on. A kernel of each family, a product, and 8 192 tokens beside cuDNN.

Each is a process of its own, forked before any has touched the GPU: one that never ends is
killed, and the next begins anew. Later parts leave out what was wrong here.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import programs
import speed
from arrays import Arrays
from cases import Case, check, masks
from kernels import Kernels
from part import PR_SET_PDEATHSIG, LostError, Part, RefusedError, Use, WrongError
from reference import Sizes

# The first also wakes the driver.
FIRST_SECONDS, SECONDS, LONG_SECONDS = 12, 5, 12
SLOWER = 12  # times the emulated device, where a machine does much else
SIZES = Sizes(batch=1, queries=600, keys=700, heads=4, kv_heads=2)
EMULATED_SIZES = Sizes(batch=1, queries=20, keys=23, heads=2, kv_heads=1)
LAUNCHES = 3


def answer(work: Callable[[], dict[str, Any]], pipe: int) -> None:
    """In the child: what the work gives, or why it does not. Never returns."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        said = work()
    except (WrongError, RefusedError) as error:
        said = {"failure": str(error)}
    except BaseException as error:
        said = {"failure": f"{type(error).__name__}: {error}", "lost": True}
    os.write(pipe, json.dumps(said).encode())
    os._exit(0)


def in_child(work: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What the work gives in a process of its own."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        answer(work, writer)
    os.close(writer)
    said, until = b"", time.monotonic() + seconds
    while select.select([reader], [], [], max(0, until - time.monotonic()))[0]:
        if not (more := os.read(reader, 1 << 16)):
            break
        said += more
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    status = wait(child)
    if not said:
        late = time.monotonic() > until
        raise LostError(f"no end after {seconds:g} s" if late else f"ended by signal {status}")
    got = json.loads(said)
    if "failure" in got:
        raise (LostError if "lost" in got else WrongError)(got["failure"])
    return got


def wait(child: int) -> int:
    """The signal that ended it; the driver may keep it for a while, and is not waited for."""
    for _ in range(100):
        gone, status = os.waitpid(child, os.WNOHANG)
        if gone:
            return status & 0x7F
        time.sleep(0.02)
    return signal.SIGKILL


def launch(part: Part, arrays: Arrays, what: dict[str, Any], carried: bool) -> dict[str, Any]:
    """In the child."""
    sizes = EMULATED_SIZES if part.is_emulated else SIZES
    slices = masks(sizes, random.Random(part.seed))[what["mask"]]
    return check(Kernels(part, arrays), what, Case(sizes, slices, carried, part.seed, LAUNCHES))


def main() -> int:
    """The main kernels first; a part that is cut off has said most then."""
    part = Part("smoke", __doc__)
    arrays = Arrays(part.is_emulated)
    asked, part.row_seconds = part.row_seconds, 0
    smoked = [each for each in part.artifacts("kernels") if each.get("smoke") == "plain"]

    def row(work: Callable[[], dict[str, Any]], seconds: float, uses: list[Use], **what: Any) -> None:
        seconds = asked or seconds * (SLOWER if part.is_emulated else 1)
        part.row(partial(in_child, work, seconds), uses, limit=2 * seconds + 5, **what)

    def kernel(what: dict[str, Any], carried: bool = False) -> None:
        seconds = SECONDS if part.rows else FIRST_SECONDS
        work, use = partial(launch, part, arrays, what, carried), [(what, what["mask"], carried)]
        row(work, seconds, use, kernel=what["name"], carried=carried)

    def beside(mask: str) -> None:
        tokens, size = (64, 0) if part.is_emulated else (8192, 128)
        what = speed.kernel_of(part, size, mask)
        if what["name"] not in part.problems("smoke"):
            work = partial(speed.speed, part, Kernels(part, arrays), what, tokens, mask)
            row(work, LONG_SECONDS, [], name="beside cuDNN", mask=mask, tokens=tokens)

    for what in smoked[:2]:
        kernel(what)
    beside("full")
    for what in part.artifacts("kernels"):
        if what.get("smoke") == "carried":
            kernel(what, carried=True)
    for what in part.artifacts("product"):
        row(partial(programs.check, part, what), LONG_SECONDS, [], name=what["name"])
    for what in smoked[2:]:
        kernel(what)
    beside("causal")
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
