"""Kills a run in the middle of its first part: gpu-kill.py OUT COMMAND...; 1 where the part goes on."""

import subprocess
import sys
import time
from pathlib import Path

ROWS = 3


def rows_of(out: Path) -> int:
    log = out / "results.jsonl"
    return log.read_text().count('"row"') if log.exists() else 0


out = Path(sys.argv[1])
run = subprocess.Popen(sys.argv[2:])
while rows_of(out) < ROWS and run.poll() is None:
    time.sleep(0.01)
run.kill()
run.wait()
before = rows_of(out)
time.sleep(5)
if rows_of(out) != before:
    sys.exit(f"expected {before} rows but got {rows_of(out)}")
print("killed in its part, which is gone too")
