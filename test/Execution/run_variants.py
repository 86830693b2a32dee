"""Every variant of a kernel, whichever the machine would have: attention, its gradients, a decoder.

What the CPU of --cpu has decides the width of vectors, --bf16 how attention multiplies bf16, and
ONEDNN_MAX_CPU_ISA which of oneDNN's kernels multiply matrices. What the machine lacks is left out and said.
"""

from __future__ import annotations

import os
from pathlib import Path

import jax

import attentions
import harness
import models

# Options, oneDNN's, and what the machine must have.
VARIANTS = (
    (("--cpu=x86-64-v3", "--bf16=conversions"), "AVX2", "avx2"),
    (("--cpu=x86-64-v4", "--bf16=conversions"), "AVX512_CORE", "avx512f"),
    (("--cpu=native", "--bf16=conversions"), "AVX512_CORE_BF16", "avx2"),
    (("--cpu=native", "--bf16=dots"), "DEFAULT", "avx512_bf16"),
)
PLANS = (
    ("--mesh=sp=1", "--strategy=none"),
    ("--mesh=sp=3", "--strategy=ring", "--layout=zigzag"),
    ("--mesh=sp=2", "--strategy=ulysses"),
    ("--mesh=sp=2,tp=2", "--strategy=ring"),
)
TOKENS = 61


def attention(tools: harness.Tools, dtype: str) -> harness.Program:
    """Heads of several sizes that share keys, with their gradients."""
    kinds = [
        attentions.Attention(4, 2, size, causal, dtype)
        for size, causal in ((64, True), (32, False), (5, True))
    ]
    made = [
        attentions.differentiated(kind, kind.arrays(TOKENS, TOKENS, seed), seed)
        for seed, kind in enumerate(kinds)
    ]

    def model(arguments: list) -> list:
        return [fn(*each) for (fn, _), each in zip(made, arguments, strict=True)]

    return tools.program(f"variants-{dtype}", model, [each for _, each in made])


def decoder(tools: harness.Tools, dtype: str) -> harness.Program:
    """Projections, norms and a perceptron around attention."""
    fn, arguments, _ = models.MODELS["decoder"](TOKENS, dtype)
    return tools.program(f"variants-decoder-{dtype}", fn, *arguments)


def flags() -> set[str]:
    """What the machine has, as Linux calls it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def main() -> int:
    """Each variant with every program and a plan each, or with --all every plan."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    dtypes = ("bfloat16",) if args.quick else ("bfloat16", "float32", "float64")
    programs = [attention(tools, dtype) for dtype in dtypes]
    programs += [decoder(tools, dtype) for dtype in dtypes[:2]]
    has, status = flags(), 0
    for number, (options, isa, needed) in enumerate(VARIANTS):
        if needed not in has:
            print(f"{' '.join(options)}: not on this machine, which has no {needed}")
            continue
        os.environ["ONEDNN_MAX_CPU_ISA"] = isa
        chosen = [
            harness.Case(program, (*plan, *options))
            for at, program in enumerate(programs)
            for plan in (PLANS if args.all else (PLANS[(number + at) % len(PLANS)],))
        ]
        print(f"{' '.join(options)}:", end=" ", flush=True)
        status |= harness.hold_all(tools, chosen, args)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
