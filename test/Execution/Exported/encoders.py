"""Families that encode, and those that encode and decode."""

from __future__ import annotations

from families import VOCABULARY, Family, decoder, image, padded, speech, translated, without

T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 1,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 16,
    "use_cache": False,
}
BOTH = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "use_cache": False,
}
ENCODER = without(decoder(), "num_key_value_heads", "head_dim", "use_cache")
WHISPER = {"num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 16, "pad_token_id": 0}

FAMILIES: dict[str, Family] = {
    "bert": Family("BertModel", "BertConfig", ENCODER, padded(23), "last_hidden_state"),
    "t5": Family("T5ForConditionalGeneration", "T5Config", T5, translated(24, 13)),
    "vit": Family(
        "ViTModel",
        "ViTConfig",
        without(ENCODER, "vocab_size", "max_position_embeddings") | {"image_size": 20, "patch_size": 4},
        image,
        "last_hidden_state",
    ),
    "whisper": Family("WhisperForConditionalGeneration", "WhisperConfig", BOTH | WHISPER, speech),
    "bart": Family(
        "BartForConditionalGeneration",
        "BartConfig",
        BOTH | {"max_position_embeddings": 64},
        translated(24, 14),
    ),
    "modernbert": Family(
        "ModernBertModel",
        "ModernBertConfig",
        ENCODER
        | {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
        | {"local_attention": 8, "global_attn_every_n_layers": 2},
        padded(24),
        "last_hidden_state",
    ),
}
