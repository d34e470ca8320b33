"""Qwen3 decoders that encode texts."""
