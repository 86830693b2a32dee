"""same_peaks.py PROMISED.json MEASURED.json LEAST: peaks are as promised, and above LEAST."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Execution"))
import harness

promised, measured = (json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:3])
if problems := harness.broken(promised, measured):
    sys.exit("\n".join(problems))
if min(measured["peakBytesPerRank"]) <= int(sys.argv[3]):
    sys.exit(f"expected peaks above {sys.argv[3]} but got {measured['peakBytesPerRank']}")
