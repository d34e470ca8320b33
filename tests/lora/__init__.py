"""Tests of LoRA files and of what they change."""
