"""Texts that every tool's tokenizer reads in the same way."""


def is_plain(text: str) -> bool:
    """True if a text holds nothing that a tool may repair, leave out or separate."""
    return text.isascii() and "&" not in text and text.replace("\n", " ").isprintable()
