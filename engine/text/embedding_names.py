"""Names of embeddings that stand in a text without any mark, compared by their tokens."""

import unicodedata
from collections.abc import Mapping, Sequence

from engine.text.tokenizers import ClipTokenizer

# By its first token, the tokens of each name, the longest first.
Candidates = Mapping[int, Sequence[tuple[list[int], str]]]


class BareNames:
    """Names that a text may hold; the tokens of few of them must be computed for it."""

    def __init__(self, tokenizer: ClipTokenizer, names: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._names = [(name, _squeezed(name)) for name in names]
        self._ids: dict[str, list[int]] = {}

    def within(self, text: str) -> Candidates:
        """Return the names that the text may hold.

        Names with the same tokens keep their order, as in A1111's `register_embedding_by_name`.
        """
        squeezed = _squeezed(text)
        found: dict[int, list[tuple[list[int], str]]] = {}
        for name, short in self._names:
            # Cleaning may change what is not ASCII, in ways that this comparison does not know.
            if not short.isascii() or short in squeezed:
                ids = self._ids_of(name)
                if ids:
                    found.setdefault(ids[0], []).append((ids, name))
        for several in found.values():
            several.sort(key=lambda entry: len(entry[0]), reverse=True)
        return found

    def _ids_of(self, name: str) -> list[int]:
        if name not in self._ids:
            self._ids[name] = self._tokenizer.encode(name)
        return self._ids[name]


def _squeezed(text: str) -> str:
    """Return a text without what tokens do not show: case and white space."""
    return "".join(unicodedata.normalize("NFC", text).lower().split())
