"""Texts that every tool's tokenizer reads alike."""


def is_plain(text: str) -> bool:
    """Whether there is nothing in a text that a tool may repair, leave out or set apart."""
    return text.isascii() and "&" not in text and text.replace("\n", " ").isprintable()
