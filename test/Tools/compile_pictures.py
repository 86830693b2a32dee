"""compile_pictures.py FOLDER: pictures of sp-compile say what its reports do."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

import jax
import jax.numpy as jnp

import pictures

HERE = pathlib.Path(__file__).parent


def attention(shows: Callable | None, queries: int, keys: int) -> str:
    """Attention of four heads under a mask of positions."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4
        if shows:
            mask = shows(jnp.arange(queries)[:, None], jnp.arange(keys)[None, :])
            scores = jnp.where(mask, scores, -jnp.inf)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)

    q, k = (jax.ShapeDtypeStruct((1, n, 4, 16), "float32") for n in (queries, keys))
    return jax.jit(attend).lower(q, k, k).as_text()


def causal(i: jax.Array, j: jax.Array) -> jax.Array:
    return j <= i


def window(i: jax.Array, j: jax.Array) -> jax.Array:
    return (j <= i) & (j > i - 150)


def packed(i: jax.Array, j: jax.Array) -> jax.Array:
    return (j <= i) & ((i < 301) == (j < 301))


MODELS = {
    "causal": attention(causal, 1000, 1000),
    "window": attention(window, 999, 999),
    "packed": attention(packed, 1000, 1000),
    "full": attention(None, 997, 333),
}
CASES = [
    ("causal", "--mesh=sp=8 --strategy=ring"),
    ("causal", "--mesh=sp=5 --strategy=ring --layout=contiguous"),
    ("causal", "--mesh=sp=7 --strategy=ring --bidirectional"),
    ("causal", "--mesh=dp=2,sp=3 --strategy=allgather"),
    ("causal", "--mesh=sp=4 --strategy=2d --heads=2"),
    ("causal", "--mesh=sp=4 --strategy=ring --chunks=3"),
    ("window", "--mesh=sp=6 --strategy=double-ring --inner=3 --layout=contiguous"),
    ("window", "--mesh=sp=3 --strategy=ulysses"),
    ("packed", "--mesh=sp=5 --strategy=ring"),
    ("window", "--mesh=sp=5 --strategy=halo"),
    ("window", "--mesh=sp=4 --strategy=2d --heads=2"),
    ("causal", "--mesh=sp=4 --strategy=split-kv"),
    ("full", "--mesh=sp=3 --strategy=ring"),
    ("full", "--mesh=sp=1 --strategy=none"),
    ("train", "--mesh=sp=4 --strategy=ring --backward=kv"),
    ("train", "--mesh=sp=4 --strategy=ring --offload=host+state"),
    ("train", "--mesh=sp=3 --strategy=ulysses --zero=3"),
]


def compile_to(folder: pathlib.Path, model: str, options: str) -> tuple:
    """The picture of a compilation and its report."""
    command = ["sp-compile", str(folder / f"{model}.mlir"), *options.split(), f"--svg={folder}/picture.svg"]
    done = subprocess.run(
        [*command, "-o", f"{folder}/model.spx", f"--report={folder}/report.json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return pictures.read(folder / "picture.svg"), json.loads((folder / "report.json").read_text())


def check_attentions(root: pictures.ElementTree.Element, report: dict) -> None:
    """Each rank's blocks are as large as its area; each attention of the report is in one square."""
    groups = pictures.groups(root, "attention")
    counted = sum(pictures.number(group, way) for group in groups for way in ("forward", "backward"))
    assert counted == len(report["attentions"])
    first = report["attentions"][0]
    ranks = report["mesh"]["sp"]
    assert pictures.number(groups[0], "ranks") == ranks
    polygons = pictures.shapes(groups[0], "polygon", "pairs")
    pairs, drawn = Counter(), Counter()
    side = 420 if first["heads"] == 1 else 220
    for polygon in polygons:
        pairs[pictures.number(polygon, "rank")] += pictures.number(polygon, "pairs")
        drawn[pictures.number(polygon, "rank")] += pictures.area(polygon)
    assert [pairs[rank] for rank in range(ranks)] == first["areaPerRank"][:ranks], pairs
    unit = side * side / (first["queryLength"] * first["kvLength"])
    for rank, area in drawn.items():
        assert abs(area / unit - pairs[rank]) <= 0.005 * pairs[rank], (rank, area / unit, pairs[rank])
    if first["strategy"] == "ring" and first["layout"] == "contiguous" and not first["bidirectional"]:
        check_steps(polygons, first, ranks)


def check_steps(polygons: list, attention: dict, ranks: int) -> None:
    """Step t of rank r is with keys of rank (r - t) mod n."""
    for polygon in polygons:
        left = min(x for x, _ in pictures.points(polygon))
        key = (left - 90) / 420 * attention["kvLength"]
        size, more = divmod(attention["kvLength"], ranks)
        owner = next(r for r in range(ranks) if key < (r + 1) * size + min(r + 1, more) - 0.5)
        assert pictures.number(polygon, "step") == (pictures.number(polygon, "rank") - owner) % ranks


def check_memory(root: pictures.ElementTree.Element, report: dict) -> None:
    """The highest stack is what lives at once, under what the report has promised."""
    groups = {group.get("data-space"): group for group in pictures.groups(root, "memory")}
    near = groups["near"]
    assert pictures.number(near, "needed") == max(report["peakBytesPerRank"])
    for group in groups.values():
        live, needed = pictures.number(group, "live"), pictures.number(group, "needed")
        # A window hides blocks for which a rank has places.
        most = 2 * needed if report["attentions"][0]["mask"] == "window" else needed
        assert 0.9 * needed <= live <= most, (live, needed)
        kinds = pictures.shapes(group, "polygon", "kind")
        assert sum(pictures.number(kind, "peak") for kind in kinds) == live
        # So do the rows of the list below it.
        rows = [
            row for row in pictures.groups(root, "used") if row.get("data-space") == group.get("data-space")
        ]
        assert sum(pictures.number(row, "bytes") for row in rows) == live
        levels = [y for kind in kinds for _, y in pictures.points(kind)]
        height = (max(levels) - min(levels)) / pictures.number(group, "height")
        assert abs(height - min(live / needed, 1)) < 0.01, (height, live / needed)
    assert sum(each["bytes"] for each in report["atPeak"]) == pictures.number(near, "live")
    assert ("far" in groups) == ("farPeakBytesPerRank" in report)
    if "far" in groups:
        assert pictures.number(groups["far"], "needed") >= 0.95 * max(report["farPeakBytesPerRank"])


def check_sampled(folder: pathlib.Path) -> None:
    """What is too fine for blocks is sampled: colours of ranks at the right places."""
    root, _ = compile_to(folder, "causal", "--mesh=sp=40 --strategy=ring --layout=contiguous")
    (group,) = pictures.groups(root, "attention")
    runs = pictures.shapes(group, "rect", "rank")
    assert len({pictures.number(run, "rank") for run in runs}) == 40
    for run in runs:
        row = round((float(run.get("y")) - min(float(each.get("y")) for each in runs)) / (420 / 64))
        assert pictures.number(run, "rank") == (2 * row + 1) * 1000 // 128 // 25
    assert "sampled at 64 x 64" in pictures.texts(root)


def main() -> None:
    """Draws each case and compares."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, text in MODELS.items():
        (folder / f"{name}.mlir").write_text(text)
    subprocess.run([sys.executable, HERE / "layer_steps.py", folder / "train.mlir", "2"], check=True)
    for model, options in CASES:
        root, report = compile_to(folder, model, options)
        check_attentions(root, report)
        check_memory(root, report)
        print(model, options, "holds")
    check_sampled(folder)
    striped, _ = compile_to(folder, "causal", "--mesh=sp=8 --strategy=ring --layout=striped")
    for run in pictures.shapes(striped, "rect", "rank"):
        row = round((float(run.get("y")) - 110) / (420 / 64))
        assert pictures.number(run, "rank") == row % 8
    print("sampled pictures hold")


if __name__ == "__main__":
    main()
