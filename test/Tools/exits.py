"""exits.py STATUS COMMAND…: runs the command and succeeds when it ends with this status."""

import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
if status != int(sys.argv[1]):
    sys.exit(f"expected exit status {sys.argv[1]} but got {status}: {' '.join(sys.argv[2:])}")
