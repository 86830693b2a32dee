"""Families that only decode."""

from __future__ import annotations

from families import (
    EAGER,
    VOCABULARY,
    Family,
    decoder,
    padded,
    plain,
    without,
)

GPT2 = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LATENT = {
    "num_key_value_heads": 4,
    "q_lora_rank": 12,
    "kv_lora_rank": 12,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "first_k_dense_replace": 2,
}

FAMILIES: dict[str, Family] = {
    "llama": Family("LlamaForCausalLM", "LlamaConfig", decoder(), plain(24)),
    "llama-padded": Family("LlamaForCausalLM", "LlamaConfig", decoder(), padded(24, left=True), wide=True),
    "mistral": Family("MistralForCausalLM", "MistralConfig", decoder(sliding_window=7), plain(26)),
    "gpt2": Family("GPT2LMHeadModel", "GPT2Config", GPT2 | {"use_cache": False}, padded(24), math=True),
    "gemma2": Family(
        "Gemma2ForCausalLM",
        "Gemma2Config",
        decoder(sliding_window=6, attn_logit_softcapping=5.0, query_pre_attn_scalar=8),
        padded(24),
        implementations=EAGER,
    ),
    "qwen3": Family("Qwen3ForCausalLM", "Qwen3Config", decoder(), padded(24, left=True)),
    "bloom": Family(
        "BloomForCausalLM",
        "BloomConfig",
        {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 2, "n_head": 4, "use_cache": False},
        padded(24),
        implementations=EAGER,
    ),
    "mpt": Family(
        "MptForCausalLM",
        "MptConfig",
        {
            "vocab_size": VOCABULARY,
            "d_model": 32,
            "n_layers": 2,
            "n_heads": 4,
            "max_seq_len": 64,
            "expansion_ratio": 2,
            "use_cache": False,
        },
        padded(24),
        implementations=EAGER,
    ),
    "falcon": Family(
        "FalconForCausalLM",
        "FalconConfig",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "alibi": True,
            "multi_query": False,
            "new_decoder_architecture": False,
            "use_cache": False,
        },
        padded(24),
    ),
    "gpt-neox": Family(
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        without(decoder(), "num_key_value_heads", "head_dim"),
        plain(24),
    ),
    "opt": Family(
        "OPTForCausalLM",
        "OPTConfig",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 32,
            "ffn_dim": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "max_position_embeddings": 64,
            "word_embed_proj_dim": 32,
            "use_cache": False,
        },
        padded(24),
    ),
    "gpt-oss": Family(
        "GptOssForCausalLM",
        "GptOssConfig",
        decoder(
            sliding_window=6,
            num_local_experts=2,
            num_experts_per_tok=1,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        ),
        plain(24),
        implementations=EAGER,
    ),
    "gemma3": Family(
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        decoder(
            sliding_window=6,
            query_pre_attn_scalar=8,
            layer_types=["sliding_attention", "full_attention"],
        ),
        padded(24, left=True),
    ),
    "deepseek": Family(
        "DeepseekV3ForCausalLM",
        "DeepseekV3Config",
        without(decoder(**LATENT), "head_dim"),
        plain(23),
    ),
    "llama4": Family(
        "Llama4ForCausalLM",
        "Llama4TextConfig",
        decoder(intermediate_size_mlp=48, moe_layers=[], attention_chunk_size=9, no_rope_layers=[1, 0]),
        plain(24),
    ),
    "phi3": Family(
        "Phi3ForCausalLM",
        "Phi3Config",
        without(decoder(sliding_window=7, **TOKENS), "head_dim"),
        padded(24),
    ),
    "mixtral": Family(
        "MixtralForCausalLM",
        "MixtralConfig",
        decoder(num_local_experts=2, num_experts_per_tok=1),
        plain(24),
    ),
    "gptj": Family(
        "GPTJForCausalLM",
        "GPTJConfig",
        GPT2 | {"rotary_dim": 4, "use_cache": False},
        padded(24),
        implementations=EAGER,
    ),
}
