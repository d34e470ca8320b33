"""Prompts as rows of tokens, of any length, and what text encoders make of them."""
