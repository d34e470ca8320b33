"""Letters and pairs of letters of texts, by which words too short for trigrams are found."""


def letter_pairs(*texts: str) -> str:
    """Return every letter of the texts, and every two that follow each other, as tokens.

    A token is the hexadecimal UTF-8 of the letters in lower case, which FTS5 takes as a word
    whatever they are; each occurs once, in order, so that equal texts have equal tokens.
    """
    found: set[str] = set()
    for text in texts:
        lower = text.lower()
        found.update(lower)
        found.update(map(str.__add__, lower, lower[1:]))
    return " ".join(sorted(letters.encode("utf-8", "replace").hex() for letters in found))
