"""Names of embeddings in a text, and the tokens of the text with vectors in their places.

Behaviour follows, for each spelling, A1111's `find_embedding_at_position`
(`modules/textual_inversion/textual_inversion.py`), ComfyUI's `SDTokenizer` (`comfy/sd1_clip.py`),
diffusers' `maybe_convert_prompt` (`loaders/textual_inversion.py`) and InvokeAI's `apply_ti`
(`backend/model_patcher.py`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from engine.api.prompt_rules import EmbeddingSpelling
from engine.api.sentences import Text
from engine.api.values import ErrorInfo
from engine.embeddings.embedding import Embedding, Encoder
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings, Found
from engine.text import embedding_warnings as warnings
from engine.text.embedding_names import BareNames
from engine.text.tokenizers import ClipTokenizer

# The vector of positions that hold a token.
NO_VECTOR = -1
# The token at the place of a vector, as in A1111: its own vector is not used.
_PLACEHOLDER = 0
# The most vectors that fit between the start and the end token.
_MOST_VECTORS = 75
# More slots than a prompt may have.
_MOST_COUNTED = 20_000
_PREFIX = "embedding:"
_PREFIX_WORD = re.compile(rf"(?<=\s){_PREFIX}")
_NAME_END = re.compile(r"[<\[]")
_TAG = re.compile(r"<embed(?:ding)?:([^<>]{1,300})>", re.IGNORECASE)
# InvokeAI's pattern (`app/util/ti_utils.py`), and the words of diffusers' concepts.
_ANGLED = re.compile(r"<[a-zA-Z0-9., _-]{1,300}>")
_WORD = re.compile(r"(<[^<>\s]{1,300}>)(?:_(\d{1,4}))?")


class Slot(NamedTuple):
    """A position of a tokenized text: a token, or a vector of an embedding.

    `vector` is an index into `EmbeddingReader.vectors`, or `NO_VECTOR`. `group` is the number of
    vectors of the embedding whose first one this is, else 0. A slot that `is_dropped` counts when
    a text is cut into chunks, but holds nothing.
    """

    token: int
    vector: int = NO_VECTOR
    group: int = 0
    is_dropped: bool = False


class EmbeddingUse(msgspec.Struct, frozen=True):
    """The embeddings at hand for a text: where they are, how they are spelled, whom they are for.

    `encoders` are all text encoders of a checkpoint, and `encoder` is the one that is to be fed.
    """

    encoder: Encoder
    encoders: tuple[Encoder, ...]
    spellings: tuple[EmbeddingSpelling, ...]
    library: Embeddings = NO_EMBEDDINGS


class EmbeddingReader(msgspec.Struct, eq=False):
    """Reads the texts of some prompts for one text encoder.

    `vectors` are the vectors that the texts use so far, as pairs of an embedding and the index of
    its vector; `warnings` are those about embeddings that were not used as written.
    """

    tokenizer: ClipTokenizer
    use: EmbeddingUse
    vectors: list[tuple[Embedding, int]] = msgspec.field(
        default_factory=list[tuple[Embedding, int]]
    )
    warnings: dict[str, ErrorInfo] = msgspec.field(default_factory=dict[str, ErrorInfo])
    # The names that the warnings are about, by their messages.
    named: dict[Text, str] = msgspec.field(default_factory=dict[Text, str])
    # By name, in the order in which the texts name them.
    used: dict[str, Embedding] = msgspec.field(default_factory=dict[str, Embedding])
    _starts: dict[tuple[object, ...], int] = msgspec.field(
        default_factory=dict[tuple[object, ...], int]
    )
    _bare: BareNames | None = None

    def pieces(self, text: str, limit: int) -> Iterator[list[Slot]]:
        """Yield the slots of a text, in pieces that ComfyUI does not join.

        They may be wrong once there are more than `limit`.
        """
        spellings = self.use.spellings
        if EmbeddingSpelling.TAG in spellings:
            text = _TAG.sub(lambda tag: f" {_PREFIX}{tag[1].strip()} ", text)
        if EmbeddingSpelling.PREFIX in spellings or EmbeddingSpelling.TAG in spellings:
            yield from self._prefixed(text, limit)
        elif EmbeddingSpelling.WORD in spellings:
            yield from self._marked(_WORD, text, limit)
        elif EmbeddingSpelling.ANGLED in spellings:
            yield from self._marked(_ANGLED, text, limit)
        else:
            yield self._words(text, limit)

    def count(self, text: str) -> int:
        """Return the number of slots of a text, or one that is large enough to be refused."""
        found = 0
        for piece in self.pieces(text, _MOST_COUNTED):
            found += len(piece)
            if found > _MOST_COUNTED:
                break
        return found

    def slots(self, text: str) -> list[Slot]:
        """Return the slots of a text; of one that is refused for their number they may be wrong."""
        return [slot for piece in self.pieces(text, _MOST_COUNTED) for slot in piece]

    # --- spellings ---

    def _words(self, text: str, limit: int) -> list[Slot]:
        """Return the slots of a text; where the spelling is bare, names in it are replaced."""
        ids = self.tokenizer.encode_up_to(text, limit)
        if EmbeddingSpelling.BARE not in self.use.spellings:
            return [Slot(token) for token in ids]
        if self._bare is None:
            self._bare = BareNames(self.tokenizer, self.use.library.names())
        candidates = self._bare.within(text)
        if not candidates:
            return [Slot(token) for token in ids]
        slots: list[Slot] = []
        place = 0
        while place < len(ids):
            placed: list[Slot] = []
            for name_ids, name in candidates.get(ids[place], ()):
                if ids[place : place + len(name_ids)] == name_ids:
                    placed = self._bare_vectors(name)
                    if placed:
                        place += len(name_ids)
                        break
            slots += placed or [Slot(ids[place])]
            place += not placed
        return slots

    def _bare_vectors(self, name: str) -> list[Slot]:
        """Return the slots of an embedding that the text names; none if it is left as words."""
        embedding = self._taken(name, self.use.library.named(name))
        if embedding is None:
            return []
        if not embedding.is_exactly_for(self.use.encoders):
            self._tell(name, warnings.for_others(name, embedding))
            return []
        if embedding.count > _MOST_VECTORS:
            self._tell(name, warnings.too_long(name, embedding.count, _MOST_VECTORS))
            return []
        return self._placed(name, embedding)

    def _prefixed(self, text: str, limit: int) -> Iterator[list[Slot]]:
        """Read `embedding:name` as ComfyUI does, with what follows the name."""
        first, *others = _PREFIX_WORD.split(text)
        for piece in (first, *(_PREFIX + other for other in others)):
            words = piece.removeprefix(_PREFIX).strip("\n").split()
            if not piece.startswith(_PREFIX) or not words:
                if piece:
                    yield self._words(piece, limit)
                continue
            name, rest = words[0], " ".join(words[1:])
            end = _NAME_END.search(name)
            if end is not None:
                rest = name[end.start() :] + (f" {rest}" if rest else "")
                name = name[: end.start()]
            found = self.use.library.at_path(name)
            plain = name.strip(",")
            if found is None and len(plain) < len(name):
                rest = f"{name[len(plain) :]} {rest}"
                name, found = plain, self.use.library.at_path(plain)
            slots = self._prefix_vectors(name, found)
            if slots:
                yield slots
            if rest:
                yield self._words(rest, limit)

    def _prefix_vectors(self, name: str, found: Found | None) -> list[Slot]:
        if found is None:
            self._tell(name, warnings.not_found(name))
            return []
        embedding = self._taken(name, found)
        if embedding is None:
            return []
        if embedding.vectors_for(self.use.encoder) is not None:
            return self._placed(name, embedding)
        self._tell(name, warnings.without_effect(name, embedding))
        return [Slot(_PLACEHOLDER, is_dropped=True)] * embedding.count

    def _marked(self, mark: re.Pattern[str], text: str, limit: int) -> Iterator[list[Slot]]:
        """Replace words in angle brackets that are those of embeddings."""
        end = 0
        for found in mark.finditer(text):
            slots = self._marked_vectors(found)
            if slots:
                yield self._words(text[end : found.start()], limit)
                yield slots
                end = found.end()
        yield self._words(text[end:], limit)

    def _marked_vectors(self, mark: re.Match[str]) -> list[Slot]:
        word, number = mark[0], None
        found = self.use.library.of_word(mark[1] if mark.re is _WORD else word)
        if mark.re is _WORD:
            word, number = mark[1], mark[2]
            if found is None and word != word.lower():
                # transformers finds a word in any case, but diffusers does not extend it then.
                found, number = self.use.library.of_word(word.lower()), number or "0"
        embedding = self._taken(word, found) if found is not None else None
        if embedding is None:
            return []
        if any(embedding.vectors_for(encoder) is None for encoder in self.use.encoders):
            self._tell(word, warnings.for_others(word, embedding))
            return []
        if number is None:
            return self._placed(word, embedding)
        index = int(number)
        if mark[2] is not None and not 0 < index < embedding.count:
            # Such a word was not added: only its beginning is that of the embedding.
            return [*self._placed(word, embedding), *map(Slot, self.tokenizer.encode(f"_{number}"))]
        return [self._placed(word, embedding)[index]._replace(group=1)]

    # --- vectors ---

    def _taken(self, name: str, found: Found | None) -> Embedding | None:
        """Return the embedding of a file that was found, or tell why it is not used."""
        if found is None:
            return None
        if found.embedding is None:
            if found.error is not None:
                self._tell(name, warnings.unreadable(name, found.error))
            return None
        if found.embedding.others:
            self._tell(name, warnings.shared_name(name, found.embedding))
        return found.embedding

    def _placed(self, name: str, embedding: Embedding) -> list[Slot]:
        self.used.setdefault(name, embedding)
        key = (embedding.path, embedding.name, embedding.token, embedding.sha256)
        start = self._starts.get(key)
        if start is None:
            start = self._starts[key] = len(self.vectors)
            self.vectors += [(embedding, index) for index in range(embedding.count)]
        first = Slot(_PLACEHOLDER, start, embedding.count)
        others = range(start + 1, start + embedding.count)
        return [first, *(Slot(_PLACEHOLDER, vector) for vector in others)]

    def _tell(self, name: str, warning: ErrorInfo) -> None:
        self.warnings.setdefault(warning.message, warning)
        self.named.setdefault(warning.text, name)


def plain_pieces(tokenizer: ClipTokenizer, text: str, limit: int) -> Sequence[list[Slot]]:
    """Return the slots of a text in which no embedding is looked for, as one piece."""
    return ([Slot(token) for token in tokenizer.encode_up_to(text, limit)],)
