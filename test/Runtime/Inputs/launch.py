"""Runs a command as N processes, each a rank, in the environment that torchrun gives them.

What they print follows, rank by rank. `--set=RANK:NAME=VALUE` changes a variable of one process,
`--drop=NAME` leaves one out, `--kill=RANK:SECONDS` kills one after a while. Fails if one of the others
does, or if they take too long.
"""

import argparse
import os
import socket
import subprocess
import sys
import time

LIMIT_SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--drop", action="append", default=[])
    parser.add_argument("--kill")
    parser.add_argument("--within", type=float, default=LIMIT_SECONDS)
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
        time.sleep(float(seconds))
        victim = processes[int(number)]
        victim.kill()
    failed = False
    for rank, process in enumerate(processes):
        try:
            left = options.within - (time.monotonic() - start)
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
