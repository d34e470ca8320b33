"""CLIP's byte-level BPE tokenizer, with the same ids as transformers' `CLIPTokenizerFast`.

The packaged vocabulary is OpenAI CLIP's, which every Stable Diffusion 1 checkpoint uses; see
assets/README.md. A diffusers folder may have its own vocabulary.
"""

import errno
import gzip
from collections.abc import Sequence
from copy import copy
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from engine.api import ErrorCode
from engine.api.sentences import Sentence, sentence
from engine.errors import EngineError
from engine.regular_file import read_bounded
from engine.text.cleaning import Clean
from engine.text.token_places import token_places
from engine.text.well_formed import encode_up_to, places_in, well_formed
from engine.untrusted_json import decode_json

START_TOKEN = "<|startoftext|>"
END_TOKEN = "<|endoftext|>"

_END_OF_WORD = "</w>"
# CLIP's own word pattern (Radford et al. 2021, `simple_tokenizer.py`), without its repair of broken
# Unicode.
_WORDS = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)

Merge = tuple[str, str]


class ClipTokenizer:
    """A tokenizer from text to token ids.

    `start_id` and `end_id` enclose each chunk, `pad_id` fills it, `comma_id` is the comma at the
    end of a word (None if the vocabulary has none). `sentence_ends` (a period), `phrase_ends` (also
    comma, colon, semicolon) and `word_ends` are sets of ids.
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: list[Merge],
        start: str = START_TOKEN,
        end: str = END_TOKEN,
        pad: str | None = None,
    ) -> None:
        """Create a tokenizer.

        `vocabulary` must hold the special tokens, and the parts and the result of each merge.
        """
        self._made_of = vocabulary, merges, start, end
        self._clean: Clean | None = None
        # Those of other padding, which take a tenth of a second to make, by it.
        self._others: dict[str, ClipTokenizer] = {}
        self.start_id = vocabulary[start]
        self.end_id = vocabulary[end]
        pad = pad or end
        self.pad_id = vocabulary[pad]
        self.comma_id = vocabulary.get("," + _END_OF_WORD)
        self.sentence_ends = _ids_of(vocabulary, ".")
        self.phrase_ends = _ids_of(vocabulary, ".,;:")
        self.word_ends = frozenset(
            number for token, number in vocabulary.items() if token.endswith(_END_OF_WORD)
        )
        self._bpe = _byte_level_bpe(vocabulary, merges, end)
        # A prompt may contain special tokens, as in other tools; they are matched before
        # lower-casing.
        special = [AddedToken(token, normalized=False, special=True) for token in (start, end, pad)]
        # The library's stub leaves the element type of the list open.
        self._bpe.add_special_tokens(special)  # pyright: ignore[reportUnknownMemberType]

    def filling_with_zero(self) -> "ClipTokenizer":
        """Return a tokenizer that pads with token 0, as for OpenCLIP's checkpoints.

        Token 0 is then special: in a text, "!" (CLIP's token 0) does not merge with its neighbours.
        """
        vocabulary = self._made_of[0]
        zero = next(token for token, number in vocabulary.items() if number == 0)
        return self if self.pad_id == 0 else self._filling_with(zero)

    def filling_with_end(self) -> "ClipTokenizer":
        """Return a tokenizer that pads with the end token; only start and end are special."""
        return self if self.pad_id == self.end_id else self._filling_with(self._made_of[3])

    def _filling_with(self, pad: str) -> "ClipTokenizer":
        """Return a tokenizer that pads with a token, the same object each time."""
        if pad not in self._others:
            self._others[pad] = ClipTokenizer(*self._made_of, pad)
        return self._others[pad]

    def cleaning(self, clean: Clean | None) -> "ClipTokenizer":
        """Return a copy that first applies a tool's cleaning function to each text."""
        if clean is self._clean:
            return self
        cleaned = copy(self)
        cleaned._clean = clean
        return cleaned

    def encode(self, text: str) -> list[int]:
        """Return the ids of any text, without start and end; lone surrogates count as U+FFFD."""
        return self._bpe.encode(self._read(text), add_special_tokens=False).ids

    def _read(self, text: str) -> str:
        formed = well_formed(text)
        return formed if self._clean is None else self._clean(formed)

    def encode_up_to(self, text: str, limit: int) -> list[int]:
        """Encode a text, but stop early on a long text once it has more than `limit` ids.

        After an early stop the ids may be wrong: only their excessive number matters.
        """
        return encode_up_to(self.encode, text, limit)

    def characters_of(self, text: str, indices: Sequence[int]) -> list[int | None]:
        """Return the position of each of these ids of `encode(text)`; None beyond the last."""
        formed, read = well_formed(text), self._read(text)
        encoding = self._bpe.encode(formed, add_special_tokens=False)
        # Most of what cleaning changes, as capital letters, makes no other ids.
        if read != formed and encoding.ids != self.encode(text):
            return token_places(text, indices, self.encode)
        starts: list[int] = [start for start, _ in encoding.offsets]
        return places_in(text, formed, starts, indices)


def _byte_level_bpe(vocabulary: dict[str, int], merges: list[Merge], unknown: str) -> Tokenizer:
    bpe = Tokenizer(
        models.BPE(
            vocab=vocabulary,
            merges=merges,
            continuing_subword_prefix="",
            end_of_word_suffix=_END_OF_WORD,
            unk_token=unknown,
        )
    )
    bpe.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Lowercase(),
        ]
    )
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    return bpe


def _ids_of(vocabulary: dict[str, int], marks: str) -> frozenset[int]:
    """Return the ids of these characters at the end of a word, if the vocabulary has them."""
    tokens = (mark + _END_OF_WORD for mark in marks)
    return frozenset(vocabulary[token] for token in tokens if token in vocabulary)


@cache
def load_clip_tokenizer() -> ClipTokenizer:
    """Return the tokenizer of OpenAI's CLIP, 49,408 tokens, padding with the end token."""
    asset = resources.files("engine.text") / "assets" / "clip" / "merges.txt.gz"
    merges = _parse_merges(gzip.decompress(asset.read_bytes()).decode("utf-8"))
    # The order that gives CLIP its ids: bytes, bytes at the end of a word, merges, special tokens.
    letters = byte_letters()
    tokens = [
        *letters,
        *(letter + _END_OF_WORD for letter in letters),
        *(first + second for first, second in merges),
        START_TOKEN,
        END_TOKEN,
    ]
    return ClipTokenizer({token: index for index, token in enumerate(tokens)}, merges)


def byte_letters() -> list[str]:
    """Return a letter for each byte: itself if it is printable, else one from U+0100 on (GPT-2)."""
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = 256 - len(printing)
    return [chr(point) for point in (*printing, *range(0x100, 0x100 + others))]


def _parse_merges(text: str) -> list[Merge]:
    """Parse one merge per line, most frequent first; raises ValueError for a malformed line."""
    merges: list[Merge] = []
    for line in text.split("\n"):
        if not line or line.startswith("#version"):
            continue
        parts = line.rstrip("\r").split(" ")
        if len(parts) != 2:
            raise ValueError(line)
        merges.append((parts[0], parts[1]))
    return merges


# CLIP's own files are smaller than 2 MB; the limit protects the memory from hostile files.
_MAX_FILE_BYTES = 16 << 20
_MAX_ID = 1 << 24


class _NamedToken(msgspec.Struct):
    content: str


class _SpecialTokens(msgspec.Struct):
    """The relevant keys of special_tokens_map.json and tokenizer_config.json."""

    bos_token: str | _NamedToken | None = None
    eos_token: str | _NamedToken | None = None
    pad_token: str | _NamedToken | None = None


class _FastModel(msgspec.Struct):
    vocab: dict[str, int]
    merges: list[str | Merge]


class _FastTokenizer(msgspec.Struct):
    """The part of tokenizer.json that replaces vocab.json and merges.txt in transformers 5."""

    model: _FastModel


_SPECIAL_TOKENS = msgspec.json.Decoder(_SpecialTokens)
_FAST_TOKENIZER = msgspec.json.Decoder(_FastTokenizer)
_VOCABULARY = msgspec.json.Decoder(dict[str, int])


def tokenizer_of(folder: Path | None) -> ClipTokenizer:
    """Load a checkpoint folder's own tokenizer, or CLIP's. Raises as `load_tokenizer` does."""
    return load_tokenizer(folder) if folder else load_clip_tokenizer()


def load_tokenizer(folder: Path) -> ClipTokenizer:
    """Load the tokenizer of a diffusers folder: vocab.json and merges.txt, or tokenizer.json.

    special_tokens_map.json, then tokenizer_config.json, name the special tokens; CLIP's are the
    default. Raises CHECKPOINT_INCOMPLETE for a missing file and CHECKPOINT_CORRUPT for an
    inconsistent one.
    """
    try:
        vocabulary, merges = _read_vocabulary(folder)
        named = [
            decode_json(_read(folder / name), _SPECIAL_TOKENS)
            for name in ("special_tokens_map.json", "tokenizer_config.json")
            if (folder / name).is_file()
        ]
    # JsonError, UnicodeDecodeError and a malformed merge are ValueErrors.
    except ValueError as error:
        raise _corrupt(
            folder, sentence("its files are not those of a CLIP tokenizer"), str(error)
        ) from error
    start = _first_named([tokens.bos_token for tokens in named], START_TOKEN)
    end = _first_named([tokens.eos_token for tokens in named], END_TOKEN)
    pad = _first_named([tokens.pad_token for tokens in named], end)
    _check_vocabulary(folder, vocabulary, merges, (start, end, pad))
    return ClipTokenizer(vocabulary, merges, start, end, pad)


def _read_vocabulary(folder: Path) -> tuple[dict[str, int], list[Merge]]:
    if not (folder / "vocab.json").is_file() and (folder / "tokenizer.json").is_file():
        fast = decode_json(_read(folder / "tokenizer.json"), _FAST_TOKENIZER).model
        lines = (merge if isinstance(merge, str) else " ".join(merge) for merge in fast.merges)
        return fast.vocab, _parse_merges("\n".join(lines))
    vocabulary = decode_json(_read(folder / "vocab.json"), _VOCABULARY)
    return vocabulary, _parse_merges(_read(folder / "merges.txt").decode("utf-8"))


def _read(path: Path) -> bytes:
    try:
        return read_bounded(path, _MAX_FILE_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            reason = sentence(
                "{path} is larger than {size} MiB", path=path.name, size=_MAX_FILE_BYTES >> 20
            )
            raise _corrupt(path.parent, reason) from error
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            sentence("The tokenizer file {path} cannot be read.", path=path),
            sentence("Download the model again."),
            str(error),
        ) from error


def _first_named(tokens: list[str | _NamedToken | None], default: str) -> str:
    for token in tokens:
        if token is not None:
            return token if isinstance(token, str) else token.content
    return default


def _check_vocabulary(
    folder: Path, vocabulary: dict[str, int], merges: list[Merge], special: tuple[str, str, str]
) -> None:
    """Raise CHECKPOINT_CORRUPT for a vocabulary that the tokenizers library would mishandle."""
    for token in special:
        if token not in vocabulary:
            raise _corrupt(
                folder,
                sentence("the special token {token!r} is not in the vocabulary", token=token),
            )
    ids = vocabulary.values()
    if len(set(ids)) != len(ids) or min(ids) < 0 or max(ids) >= _MAX_ID:
        raise _corrupt(folder, sentence("its token ids repeat or are out of range"))
    for first, second in merges:
        if not {first, second, first + second} <= vocabulary.keys():
            raise _corrupt(
                folder,
                sentence(
                    "the merge {first!r} {second!r} is not in the vocabulary",
                    first=first,
                    second=second,
                ),
            )


def _corrupt(folder: Path, reason: Sentence, detail: str = "") -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT,
        sentence("The tokenizer in {folder} is damaged: {reason}.", folder=folder, reason=reason),
        sentence("Download the model again."),
        detail,
    )
