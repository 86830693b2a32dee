"""Runs a command as N processes, each a rank, in the environment that torchrun gives them.

What they print follows, rank by rank. `--set=RANK:NAME=VALUE` changes a variable of one process,
`--drop=NAME` leaves one out, `--kill=RANK:SECONDS` kills one once all have waited so long, with hardly any
use of processors. Fails if one of the others does, or if they take too long.
"""

import argparse
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

LIMIT_SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processor_seconds(process: subprocess.Popen) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def let_wait(processes: list[subprocess.Popen], seconds: float) -> None:
    """Return once each of them has used less than a twentieth of so many seconds, or LIMIT_SECONDS after."""
    for _ in range(int(LIMIT_SECONDS / seconds)):
        before = [processor_seconds(one) for one in processes]
        time.sleep(seconds)
        used = (processor_seconds(one) - own for one, own in zip(processes, before, strict=True))
        if all(own < seconds / 20 for own in used):
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--drop", action="append", default=[])
    parser.add_argument("--kill")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    shared = {
        "WORLD_SIZE": str(options.count),
        "MASTER_ADDR": "127.0.0.1",
        # The one after it is used.
        "MASTER_PORT": str(free_port() - 1),
    }
    processes = []
    for rank in range(options.count):
        own = os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        for change in options.set:
            of, _, assignment = change.partition(":")
            name, _, value = assignment.partition("=")
            if int(of) == rank:
                own[name] = value
        for name in options.drop:
            own.pop(name)
        processes.append(
            subprocess.Popen(options.command, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        )

    start = time.monotonic()
    victim = None
    if options.kill:
        number, _, seconds = options.kill.partition(":")
        let_wait(processes, float(seconds))
        victim = processes[int(number)]
        victim.kill()
    failed = False
    for rank, process in enumerate(processes):
        try:
            left = LIMIT_SECONDS - (time.monotonic() - start)
            output, _ = process.communicate(timeout=max(0.0, left))
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            print(f"launch.py: rank {rank} hangs")
        failed |= process is not victim and process.returncode != 0
        print(f"{rank}:", output.decode(), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
