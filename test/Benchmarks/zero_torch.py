"""The torch peer of zero.py: FSDP2 over gloo, a process a rank, each with its part of the tokens.

Every rank gathers the keys and values of all, as context parallelism over all-gather does; torch's own
needs a GPU. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as collectives
import torch.multiprocessing as multiprocessing
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn import functional

WORDS, HEAD = 4096, 128


class Layer(nn.Module):
    """Attention and a gated MLP."""

    def __init__(self, width: int) -> None:
        """Of a width."""
        super().__init__()
        hidden, self.heads, self.kv = -(-width * 8 // 3 // 64) * 64, width // HEAD, max(1, width // 256)
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, (self.heads + 2 * self.kv) * HEAD, bias=False)
        self.o = nn.Linear(self.heads * HEAD, width, bias=False)
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of [batch, tokens, width]."""
        parts = self.qkv(self.norms[0](x)).unflatten(-1, (-1, HEAD)).transpose(1, 2)
        q, k, v = parts.split((self.heads, self.kv, self.kv), dim=1)
        k, v = (torch.cat(collectives.all_gather(each.contiguous()), dim=2) for each in (k, v))
        rows, first = x.shape[1], x.shape[1] * dist.get_rank()
        mask = torch.arange(first, first + rows)[:, None] >= torch.arange(k.shape[2])
        result = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        x = x + self.o(result.transpose(1, 2).flatten(2))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


def resident() -> float:
    """MiB of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak() -> float:
    """The most that it had."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 2**10


def run(rank: int, args: argparse.Namespace) -> None:
    """A process's share; the first prints."""
    torch.set_num_threads(1)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    dist.init_process_group("gloo", rank=rank, world_size=args.ranks)
    before = resident()
    torch.manual_seed(0)
    with torch.device("meta"):
        model = nn.Sequential(nn.Embedding(WORDS, args.width))
        model.extend(Layer(args.width) for _ in range(args.layers))
        model.append(nn.RMSNorm(args.width))
        model.append(nn.Linear(args.width, WORDS, bias=False))
    mesh = dist.device_mesh.init_device_mesh("cpu", (args.ranks,))
    for each in model:
        fully_shard(each, mesh=mesh)
    fully_shard(model, mesh=mesh)
    model.to_empty(device="cpu")
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.02)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    words = torch.randint(WORDS, (args.batch, args.tokens // args.ranks))
    seconds, values = [], []
    for _ in range(args.steps + 1):
        began = time.perf_counter()
        loss = functional.cross_entropy(model(words).flatten(0, 1), words.roll(-1, 1).flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        values.append(float(loss.detach()))
        seconds.append(time.perf_counter() - began)
    most = torch.tensor([peak() - before])
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    if rank == 0:
        print(json.dumps({"seconds": min(seconds[1:]), "MiB": float(most), "losses": values}), flush=True)
    dist.destroy_process_group()


def main() -> None:
    """Start a process for each rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("layers", "width", "tokens", "batch", "ranks", "steps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    args = parser.parse_args()
    multiprocessing.spawn(run, args=(args,), nprocs=args.ranks)


if __name__ == "__main__":
    main()
