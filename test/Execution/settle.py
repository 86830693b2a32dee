"""Brings the fields of a case of the fuzzer to values that fit each other."""

from __future__ import annotations

from dataclasses import replace

from cases import Case

# Rows, of which steps that follow an attention may cut some.
FEWEST = 8
# Features, of which a state has the square.
MOST = 64


def settled(case: Case) -> Case:
    """The nearest case whose fields fit each other: what the documents allow."""
    if case.h % case.kv:
        case = replace(case, kv=1)
    if case.dp * case.p * case.tp > 8:
        case = replace(case, dp=1)
    if case.p * case.tp > 8:
        case = replace(case, tp=1)
    if case.strategy != "2d" or case.p % max(case.u, 1):
        case = replace(case, u=0)
    if case.strategy not in ("2d", "double-ring") or (case.inner and case.ring() % case.inner):
        case = replace(case, inner=0)
    if case.strategy not in ("2d", "ulysses", "allgather"):
        case = replace(case, groups=0)
    if case.strategy not in ("ring", "double-ring", "2d"):
        case = replace(case, both=0)
    if case.strategy != "2d":
        case = replace(case, placement="head-first")
    if case.target == "cuda":
        case = replace(case, grad=0)
    if case.weights == "fused" and case.keys != case.s:
        case = replace(case, weights="flat")
    if case.width:
        case = replace(case, scores=0, values=0, hidden="", grad=2 if case.grad == 3 else case.grad)
    else:
        case = replace(case, weights="flat")
    is_large = "outer" in case.after and case.h * (case.dv or case.d) > MOST
    if min(case.s, case.keys) < FEWEST or is_large:
        case = replace(case, after="")
    if case.after:
        case = replace(case, scores=0, values=0, hidden="")
    if not (case.width and case.grad):
        case = replace(case, zero=0)
    if case.grad > 1 and not case.has_terms:
        case = replace(case, grad=1)
    if not case.grad or case.strategy in ("none", "ulysses", "allgather", "halo", "split-kv"):
        case = replace(case, backward="")
    # Where keys are few, these may be what has positions.
    rows = -(-min(case.s, case.k or case.s) // (1 if case.strategy == "none" else case.p))
    chunks = 0 if case.strategy in ("allgather", "halo", "split-kv") else min(case.chunks, rows)
    case = replace(case, chunks=chunks, backward="kv" if chunks and case.backward else case.backward)
    most = max(1, case.kv_heads() // case.exchanging())
    case = replace(case, groups=min(case.groups, most), turns=0 if case.turns > case.b else case.turns)
    if case.deal and case.deals and case.capacity <= case.s:
        case = replace(case, inner=0, both=0, layout="contiguous")
    else:
        case = replace(case, deal=0)
    return replace(case, k=0 if case.k == case.s else case.k, dv=0 if case.dv == case.d else case.dv)
