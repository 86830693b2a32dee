"""Attention of others on the same GPU, and how runs of several are timed side by side."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from kernels import LaunchError

# Seconds of work in a turn, and of rest behind it, so that power limits meet all alike.
TURN_SECONDS = 0.02
REST_SECONDS = 0.03
TURNS = 5

Timed = Callable[[int], list[float]]


def sdpa(backend: str, q: Any, k: Any, v: Any, causal: bool) -> Callable[[], Any]:
    """torch's attention of [batch, rows, heads, size] by one of its backends and no other."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def run() -> Any:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return torch.nn.functional.scaled_dot_product_attention(
                *(x.transpose(1, 2) for x in (q, k, v)), is_causal=causal
            )

    return run


def flash_attn(module: str, q: Any, k: Any, v: Any, causal: bool) -> Callable[[], Any]:
    """The package of that name: flash_attn is FA2, flash_attn_interface is FA3."""
    function = __import__(module).flash_attn_func
    return lambda: function(q, k, v, causal=causal)


PEERS: dict[str, Callable[..., Callable[[], Any]]] = {
    "cudnn": lambda *qkv: sdpa("CUDNN_ATTENTION", *qkv),
    "flash": lambda *qkv: sdpa("FLASH_ATTENTION", *qkv),
    "fa2": lambda *qkv: flash_attn("flash_attn", *qkv),
    "fa3": lambda *qkv: flash_attn("flash_attn_interface", *qkv),
}


def timed(run: Callable[[], Any]) -> Timed:
    """Seconds of each of so many calls, between events of the stream."""
    import torch

    def turn(count: int) -> list[float]:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        torch.cuda.synchronize()
        marks[0].record()
        for mark in marks[1:]:
            run()
            mark.record()
        torch.cuda.synchronize()
        return [1e-3 * a.elapsed_time(b) for a, b in pairwise(marks)]

    return turn


def text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:300]}"


def medians(
    subjects: dict[str, Timed], emulated: bool, turns: int = TURNS
) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds of each subject, which take turns; and why some could not run.

    After a launch that did not end nobody else's would: LaunchError.
    """
    seconds: dict[str, list[float]] = {}
    failures: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, turn in subjects.items():
        try:
            turn(1 if emulated else 2)
            took = statistics.median(turn(1 if emulated else 3))
            counts[name] = max(2, min(100, int(TURN_SECONDS / max(took, 1e-6))))
        except LaunchError:
            raise
        except Exception as error:
            failures[name] = text_of(error)
    for _ in range(1 if emulated else turns):
        for name in [name for name in counts if name not in failures]:
            try:
                # The host is not ahead of the GPU yet in the first launch of a turn.
                took = subjects[name](1 if emulated else counts[name] + 1)
            except LaunchError:
                raise
            except Exception as error:
                failures[name] = text_of(error)
                continue
            seconds.setdefault(name, []).append(statistics.median(took if emulated else took[1:]))
            time.sleep(0 if emulated else REST_SECONDS)
    return {name: statistics.median(each) for name, each in seconds.items()}, failures


def installed(emulated: bool) -> dict[str, Callable[..., Callable[[], Any]]]:
    """The peers that this machine has."""
    import importlib.util

    if emulated or not importlib.util.find_spec("torch"):
        return {}
    packages = {"fa2": "flash_attn", "fa3": "flash_attn_interface"}
    return {
        name: peer
        for name, peer in PEERS.items()
        if name not in packages or importlib.util.find_spec(packages[name])
    }
