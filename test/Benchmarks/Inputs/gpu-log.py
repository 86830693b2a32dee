"""What gpu-report.test asks of a run's log: gpu-log.py OUT."""

import json
import shutil
import sys
from pathlib import Path

import programs
import results

out = Path(sys.argv[1])
shutil.rmtree(out, ignore_errors=True)
out.mkdir()


def labels() -> list[str]:
    return [row["label"] for row in results.read(out).parts["tune"]["rows"]]


def row(label: str, **more: object) -> None:
    results.append(out, {"part": "tune", "row": {"label": label, **more}})


facts = {"prepared": "abc", "device": "one", "seed": 5}
results.append(out, {"part": "tune", "begin": facts})
row("a")
row("b")
log = out / results.LOG
log.write_bytes(log.read_bytes()[:-9])
print("torn:", labels())
row("b")
print("behind it:", labels())
results.append(out, {"part": "tune", "begin": facts})
row("a", value=2)
print("again:", labels(), "of", results.read(out).parts["tune"]["rows"][0]["value"])
results.append(out, {"part": "tune", "begin": facts | {"prepared": "xyz"}})
print("other artifacts:", labels())
with open(log, "a") as file:
    file.write(json.dumps({"machine": {"device": "x" * results.MOST_BYTES}}) + "\n")
row("c")
print("full:", results.read(out).parts["tune"]["reason"], *labels())
results.overwrite(out / results.TABLE, "a long text")
results.overwrite(out / results.TABLE, "short")
print("overwritten:", (out / results.TABLE).read_text())
trace = out / "trace.json"
trace.write_text(json.dumps({"traceEvents": [{"name": "x" * 100}] * 4}))
programs.TRACE_BYTES = 200
cut = json.loads(programs.kept(trace))
print("trace:", len(cut["traceEvents"]), "of", cut["cut"].split()[-2])
