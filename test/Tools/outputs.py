"""outputs.py TOOL... -- ARGUMENT... : every way to say where output goes, whatever lies there.

ARGUMENT has {} for the file. Prints a line a case; those that a tool may not write must end with 1 before
anything is computed, and leave what is there alone.
"""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import threading


def run(command: list[str]) -> subprocess.CompletedProcess:
    """The command with its output as text, at most a minute."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def check(case: str, holds: bool, done: subprocess.CompletedProcess) -> None:
    """Ends the script with what the tool said unless the claim holds."""
    if not holds:
        sys.exit(f"{case}: ended with {done.returncode}: {done.stderr}")
    print(case, "holds")


def main() -> None:
    """Writes to each kind of file in a folder of its own."""
    split = sys.argv.index("--")
    tool, argument = sys.argv[1:split], sys.argv[split + 1]
    ending = pathlib.Path(argument.partition("=")[2] or argument).suffix
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def write(path: pathlib.Path) -> subprocess.CompletedProcess:
            return run([*tool, argument.format(path.with_suffix(""))])

        plain = folder / f"plain{ending}"
        done = write(plain)
        check("new", done.returncode == 0 and plain.stat().st_size > 0, done)
        plain.write_bytes(b"old")
        plain.chmod(0o640)
        done = write(plain)
        check("replaced", done.returncode == 0 and plain.stat().st_size > 3, done)
        check("mode", stat.S_IMODE(plain.stat().st_mode) == 0o640, done)

        target, link = folder / "target", folder / f"link{ending}"
        target.write_bytes(b"old")
        (folder / "middle").symlink_to("target")
        link.symlink_to("middle")
        done = write(link)
        check("link", done.returncode == 0 and link.is_symlink() and target.stat().st_size > 3, done)
        dangling = folder / f"dangling{ending}"
        dangling.symlink_to(folder / "made")
        done = write(dangling)
        check("dangling", done.returncode == 0 and dangling.is_symlink() and (folder / "made").exists(), done)

        fifo = folder / f"fifo{ending}"
        os.mkfifo(fifo)
        received = []
        reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
        reader.start()
        done = write(fifo)
        reader.join(60)
        check("fifo", done.returncode == 0 and stat.S_ISFIFO(fifo.stat().st_mode), done)
        check("received", len(received[0]) > 3, done)

        full = folder / f"full{ending}"
        full.symlink_to("/dev/full")
        done = write(full)
        check("full", done.returncode == 1 and str(full) in done.stderr, done)
        check("reason", "No space left on device" in done.stderr and full.is_char_device(), done)

        directory = folder / f"directory{ending}"
        directory.mkdir()
        done = write(directory)
        check("directory", done.returncode == 1 and f"{directory}: cannot be written" in done.stderr, done)
        absent = folder / "absent" / f"file{ending}"
        done = write(absent)
        check("absent", done.returncode == 1 and f"{absent}: cannot be written" in done.stderr, done)
        check("nothing computed", not done.stdout, done)
        left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
        check("no draft", not left, done)


main()
