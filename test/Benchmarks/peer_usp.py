"""USP's ring (yunchang, zigzag where causal) over gloo, timed: prints its seconds as JSON.

peer_usp.py HEADS TOKENS HEAD_SIZE full|causal float32|bfloat16 RUNS

Its torch kernel asks for CUDA's flash attention; here it gets torch's for the CPU, with the
same operands and results. Nothing is printed where the packages are not installed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

RANKS = 8


def flash_on_cpu(q: Any, k: Any, v: Any, dropout_p: float, is_causal: bool, scale: float | None) -> tuple:
    """torch's CPU flash attention in the form of CUDA's: result and log-sum-exp first."""
    import torch

    operator = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return operator(q, k, v, dropout_p, is_causal, scale=scale)


def rank_main(rank: int, heads: int, tokens: int, size: int, mask: str, dtype: str, runs: int) -> None:
    """One rank of the ring; the first prints the seconds of each run, all ranks together."""
    import torch
    import torch.distributed as dist
    import yunchang.kernels.attention as kernels
    from yunchang.kernels import AttnType
    from yunchang.ring.ring_flash_attn import ring_flash_attn_forward
    from yunchang.ring.zigzag_ring_flash_attn import zigzag_ring_flash_attn_forward

    kernels._scaled_dot_product_flash_attention = flash_on_cpu
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    attention = zigzag_ring_flash_attn_forward if mask == "causal" else ring_flash_attn_forward
    shape = 1, tokens // RANKS, heads, size
    q, k, v = (torch.randn(*shape, dtype=getattr(torch, dtype)) for _ in range(3))
    seconds = []
    for _ in range(1 + runs):
        dist.barrier()
        began = time.perf_counter()
        with torch.no_grad():
            attention(
                dist.group.WORLD, q, k, v, softmax_scale=size**-0.5, causal=mask == "causal",
                attn_type=AttnType.TORCH_FLASH,
            )  # fmt: skip
        dist.barrier()
        seconds.append(time.perf_counter() - began)
    if rank == 0:
        print(json.dumps(seconds[1:]))
    dist.destroy_process_group()


def main() -> None:
    """Start the ranks."""
    heads, tokens, size, mask, dtype, runs = sys.argv[1:]
    try:
        import torch.multiprocessing
        import yunchang  # noqa: F401
    except ImportError:
        return
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    arguments = int(heads), int(tokens), int(size), mask, dtype, int(runs)
    torch.multiprocessing.spawn(rank_main, arguments, nprocs=RANKS)


if __name__ == "__main__":
    main()
