"""What a family of tiny Hugging Face models is: random weights, no download; what it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import transformers

BATCH, VOCABULARY = 2, 48

# Of families without the other.
EAGER = ("eager",)

Inputs = dict[str, torch.Tensor]


def ids(tokens: int, batch: int = BATCH, seed: int = 1) -> torch.Tensor:
    """Token ids, without those that families keep for padding, start and end."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(4, VOCABULARY, (batch, tokens), generator=generator)


def padding(tokens: int, left: bool = False) -> torch.Tensor:
    """A padding mask: the last sequence lacks five tokens."""
    mask = torch.ones(BATCH, tokens, dtype=torch.int64)
    mask[-1, slice(0, 5) if left else slice(-5, None)] = 0
    return mask


def plain(tokens: int) -> Callable[[], Inputs]:
    """One sequence, nothing padded."""
    return lambda: {"input_ids": ids(tokens, 1)}


def padded(tokens: int, left: bool = False) -> Callable[[], Inputs]:
    """Two sequences, one of them padded."""
    return lambda: {"input_ids": ids(tokens), "attention_mask": padding(tokens, left)}


def translated(source: int, target: int) -> Callable[[], Inputs]:
    """What an encoder reads, padded, and what a decoder has written so far."""
    return lambda: padded(source)() | {"decoder_input_ids": ids(target, seed=2)}


def image() -> Inputs:
    """Twenty-five patches of 4 x 4."""
    generator = torch.Generator().manual_seed(1)
    return {"pixel_values": torch.randn(BATCH, 3, 20, 20, generator=generator)}


def speech() -> Inputs:
    """Forty frames of eight mel bins, and text."""
    generator = torch.Generator().manual_seed(1)
    return {"input_features": torch.randn(1, 8, 40, generator=generator), "decoder_input_ids": ids(12, 1)}


@dataclass(frozen=True)
class Family:
    """A model class, its configuration, what it reads and what of its output is kept."""

    model: str
    config: str
    options: dict[str, Any]
    inputs: Callable[[], Inputs]
    output: str = "logits"
    implementations: tuple[str, ...] = ("eager", "sdpa")
    # Exported with JAX's 64-bit types.
    wide: bool = False
    # Decomposes sdpa as its plain kernel does: the other's strides do not suit the family.
    math: bool = False

    def make(self, implementation: str) -> torch.nn.Module:
        """The model in float32 with random weights."""
        config = getattr(transformers, self.config)(**self.options)
        config._attn_implementation = implementation
        # Experts without a kernel of their own, and without a loop over those that were chosen.
        config._experts_implementation = "batched_mm"
        model = getattr(transformers, self.model)(config).eval()
        randomise(model)
        return model


def randomise(model: torch.nn.Module) -> None:
    """Weights large enough to matter, of eight bits each, so that they compress."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            value = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                value *= 1 if "emb" in name else parameter[0].numel() ** -0.5
            elif name.endswith("weight"):
                value = 1 + 0.1 * value
            else:
                value *= 0.1
            parameter.copy_(value.bfloat16())


def decoder(**options: Any) -> dict[str, Any]:
    """Sizes of a decoder, in the names that most families share."""
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 64,
        "use_cache": False,
        **options,
    }


def without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Options that a family does not have, left out."""
    return {name: value for name, value in options.items() if name not in names}
