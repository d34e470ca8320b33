"""T5's unigram tokenizer (Kudo 2018), with the same ids as transformers' `T5TokenizerFast`.

The packaged vocabulary is that of T5 and T5 v1.1 in all sizes; see assets/README.md.
"""

import lzma
from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
)

from engine.text.well_formed import encode_up_to, places_in, well_formed

_PAD, _END, _UNKNOWN = "<pad>", "</s>", "<unk>"
_EXTRA_IDS = 100
_SPACE = "\u2581"


class T5Tokenizer:
    """A tokenizer from text to token ids; `end_id` ends a text, `pad_id` fills its row."""

    pad_id = 0
    end_id = 1

    def __init__(self, unigram: Tokenizer) -> None:
        """Create a tokenizer of T5's `unigram` model."""
        self._unigram = unigram

    def encode(self, text: str) -> list[int]:
        """Return the ids of any text, without the end; lone surrogates count as U+FFFD."""
        return self._unigram.encode(well_formed(text), add_special_tokens=False).ids

    def encode_up_to(self, text: str, limit: int) -> list[int]:
        """Encode a text, but stop early on a long one once it has more than `limit` ids."""
        return encode_up_to(self.encode, text, limit)

    def characters_of(self, text: str, indices: Sequence[int]) -> list[int | None]:
        """Return the position of each of these ids of `encode(text)`; None beyond the last."""
        formed = well_formed(text)
        encoding = self._unigram.encode(formed, add_special_tokens=False)
        return places_in(text, formed, [start for start, _ in encoding.offsets], indices)


@cache
def load_t5_tokenizer(*, by_file: bool = False) -> T5Tokenizer:
    """Return T5's tokenizer, 32,100 tokens, as transformers 5 makes it.

    `by_file`: as the `tokenizer.json` of ComfyUI and Forge says. The two differ in words that
    follow a special token without a space, and in the control character U+0085.
    """
    unigram = Tokenizer(models.Unigram(_vocabulary(), unk_id=2, byte_fallback=False))
    # SentencePiece's "nmt_nfkc", by its own table, with one space for several.
    normal: list[normalizers.Normalizer] = [normalizers.Precompiled(_asset("charsmap"))]
    if by_file:
        normal += [normalizers.Strip(left=False), normalizers.Replace(Regex(" {2,}"), _SPACE)]
        words = pre_tokenizers.Metaspace(_SPACE, prepend_scheme="first")
    else:
        normal.append(normalizers.Replace(Regex(" {2,}"), " "))
        every = pre_tokenizers.Metaspace(_SPACE, prepend_scheme="always")
        words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), every])
    unigram.normalizer, unigram.pre_tokenizer = normalizers.Sequence(normal), words
    # A prompt may contain special tokens, as in other tools.
    names = (_PAD, _END, _UNKNOWN, *_extra_tokens())
    special = [AddedToken(name, normalized=False, special=True) for name in names]
    # The library's stub leaves the element type of the list open.
    unigram.add_special_tokens(special)  # pyright: ignore[reportUnknownMemberType]
    return T5Tokenizer(unigram)


def _vocabulary() -> list[tuple[str, float]]:
    """Return all pieces with their scores, in the order of their ids."""
    pieces = _asset("pieces.txt").decode("utf-8").split("\n")
    # Differences of the numbers' bits, each byte in a plane of its own: a third smaller so.
    planes = np.frombuffer(_asset("scores"), np.uint8).reshape(4, -1)
    bits = np.cumsum(np.ascontiguousarray(planes.T).view("<i4")[:, 0], dtype=np.int64)
    scores = bits.astype(np.uint32).view(np.float32).tolist()
    special = [(name, 0.0) for name in (_PAD, _END, _UNKNOWN)]
    return [
        *special,
        *zip(pieces, scores, strict=True),
        *((name, 0.0) for name in _extra_tokens()),
    ]


def _extra_tokens() -> list[str]:
    return [f"<extra_id_{number}>" for number in reversed(range(_EXTRA_IDS))]


def _asset(name: str) -> bytes:
    file = resources.files("engine.text") / "assets" / "t5" / f"{name}.xz"
    return lzma.decompress(file.read_bytes())
