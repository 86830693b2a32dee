#!/usr/bin/env bash
# What a GPU has to prove: attention kernels right and repeatable, decoders on P ranks
# right, speed beside cuDNN, a ring's step, turns, windows, idle time; in parts.
#
#   test/Benchmarks/gpu.sh --prepare DIR         builds what a run needs, under 40 MiB (needs build/, nvcc)
#   test/Benchmarks/gpu.sh --run DIR OUT [...]   on the GPU: needs bash, python3 with torch, and DIR
#   test/Benchmarks/gpu.sh --dry-run [WORK]      both at small sizes on the emulated device; times nothing
#
# Options of --run: --only=PART, repeated: smoke, correctness, decoders, speed, traces,
# counters, tune (all of them); --seconds=S ends it in time; --device=N; --seed=N.
# A run goes on behind the rows that OUT has of the same DIR. It ends with 1 where
# something was not as expected; it goes on to the end all the same, and OUT/gpu.md says
# what. OUT is ready to be committed to test/Benchmarks/results/<date>-h200.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
build=${BUILD:-$root/build}
python=${PYTHON:-$build/venv/bin/python}

usage() {
  sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}

# prepare DIR [--dry]
prepare() {
  PYTHONPATH="$root/python:$root/python/examples" "$python" "$here/gpu/prepare.py" "$build" "$@"
}

# run DIR OUT OPTION...: the scripts of DIR, which know its manifest.
run() {
  local folder=$1
  shift
  if [[ ! -f $folder/scripts/run.py ]]; then
    echo "gpu.sh: expected a folder that --prepare made but got '$folder'" >&2
    exit 2
  fi
  [[ -x $python ]] || python=$(command -v python3)
  exec "$python" "$folder/scripts/run.py" "$folder" "$@"
}

case "${1:-}" in
  --prepare)
    (($# == 2)) || { usage >&2 && exit 2; }
    prepare "$2"
    ;;
  --run)
    (($# >= 3)) || { usage >&2 && exit 2; }
    run "${@:2}"
    ;;
  --dry-run)
    (($# <= 2)) || { usage >&2 && exit 2; }
    work=${2:-$(mktemp -d)}
    mkdir -p "$work"
    prepare "$work/prepared" --dry
    run "$work/prepared" "$work/out" --device=emulated
    ;;
  -h | --help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
