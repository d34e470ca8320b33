"""Qwen's byte pairs (Sennrich et al. 2016), with the same ids as transformers' `Qwen2Tokenizer`.

The packaged vocabulary is that of Qwen 2, 2.5 and 3 in all sizes; see assets/README.md.
"""

import lzma
from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from engine.text.tokenizers import byte_letters
from engine.text.well_formed import encode_up_to, places_in, well_formed

# Words, single digits, marks and white space, as transformers' class cuts texts.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# By their ids, which follow those of the byte pairs.
_SPECIAL = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>"),
    *("<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>"),
    *("<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>"),
    *("</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>"),
    *("<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>"),
    "</think>",
)
_PLANES = 3


class QwenTokenizer:
    """A tokenizer from text to token ids; `pad_id` fills a row."""

    pad_id = 151_643

    def __init__(self, pairs: Tokenizer) -> None:
        """Create a tokenizer of Qwen's byte `pairs`."""
        self._pairs = pairs

    def encode(self, text: str) -> list[int]:
        """Return the ids of any text; lone surrogates count as U+FFFD."""
        return self._pairs.encode(well_formed(text), add_special_tokens=False).ids

    def encode_up_to(self, text: str, limit: int) -> list[int]:
        """Encode a text, but stop early on a long one once it has more than `limit` ids."""
        return encode_up_to(self.encode, text, limit)

    def characters_of(self, text: str, indices: Sequence[int]) -> list[int | None]:
        """Return the position of each of these ids of `encode(text)`; None beyond the last."""
        formed = well_formed(text)
        encoding = self._pairs.encode(formed, add_special_tokens=False)
        return places_in(text, formed, [start for start, _ in encoding.offsets], indices)


@cache
def load_qwen_tokenizer() -> QwenTokenizer:
    """Return Qwen's tokenizer: 151,643 pieces and 26 special tokens."""
    letters = byte_letters()
    # Bytes have the ids of GPT-2's order of letters.
    tokens = list(letters)
    merges: list[tuple[str, str]] = []
    for first, second in _pairs_of_ids():
        pair = tokens[first], tokens[second]
        merges.append(pair)
        tokens.append(pair[0] + pair[1])
    vocabulary = {token: number for number, token in enumerate(tokens)}
    pairs = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    pairs.normalizer = normalizers.NFC()
    pairs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    # A prompt may contain special tokens, as in other tools.
    special = [AddedToken(name, normalized=False, special=True) for name in _SPECIAL]
    # The library's stub leaves the element type of the list open.
    pairs.add_special_tokens(special)  # pyright: ignore[reportUnknownMemberType]
    return QwenTokenizer(pairs)


def _pairs_of_ids() -> list[tuple[int, int]]:
    """Return the two ids that each further id is merged from."""
    file = resources.files("engine.text") / "assets" / "qwen" / "pairs.xz"
    planes = np.frombuffer(lzma.decompress(file.read_bytes()), np.uint8).reshape(2, _PLANES, -1)
    whole = planes.astype(np.int32)
    first, second = (side[0] + (side[1] << 8) + (side[2] << 16) for side in whole)
    return list(zip(first.tolist(), second.tolist(), strict=True))
