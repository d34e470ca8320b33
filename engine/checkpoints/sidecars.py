"""Cards: descriptions of a checkpoint or LoRA in its metadata and in files next to it.

Cards are untrusted and often wrong: they may describe another version or have a mistyped name. So
their size is limited, they count only for facts that shapes and keys do not show, and the user is
told of contradictions. In order of precedence: the file's own metadata (Stability AI's ModelSpec,
kohya's trainer), SwarmUI's card (`.swarm.json`), Civitai's card (`.civitai.info`), Stability
Matrix's (`.cm-info.json`), LoRA Manager's (`.metadata.json`), A1111's (`.json`), and a text
(`.txt`), which A1111 shows as the description.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.checkpoints.index import TensorIndex
from engine.regular_file import read_bounded
from engine.untrusted_json import JsonError, decode_json, read_json

# Civitai's cards hold the page's text and its pictures' prompts.
MAX_CARD_BYTES = 1 << 20
MAX_TEXT = 200
MAX_DESCRIPTION = 2000
MAX_WORDS = 40
_SIDES = (256, 2048)
# The most characters of a page's text that are looked at.
_LONGEST = 20_000


class Card(msgspec.Struct, frozen=True):
    """The facts about a file from one source; unknown facts are empty.

    `base_model` is the source's name for the checkpoint's base model: Civitai's base models,
    ModelSpec's architectures (github.com/Stability-AI/ModelSpec), kohya's base versions
    (`library/train_util.py`) or A1111's SD versions. `side` is the side of training pictures in
    pixels. `hashes` are the SHA-256 of the described files, in lower case, and `tensors_hashes`
    the first digits of the SHA-256 of their tensors (Civitai's AutoV3). `weight` and `negative` are
    the strength and the negative prompt that the user of a LoRA noted. Texts have at most
    `MAX_TEXT` characters, a description `MAX_DESCRIPTION`.
    """

    source: str
    base_model: str = ""
    side: int | None = None
    title: str = ""
    trained_words: tuple[str, ...] = ()
    notes: str = ""
    hashes: frozenset[str] = frozenset()
    tensors_hashes: frozenset[str] = frozenset()
    weight: float | None = None
    negative: str = ""
    description: str = ""

    @property
    def words(self) -> str:
        """The source and the base model, as in "x.civitai.info: SD 2.1 768"."""
        return f"{self.source}: {self.base_model}"


_SIZE = re.compile(r"\(?\s*([0-9]{3,4})\s*(?:[x,]\s*([0-9]{3,4})\s*)?\)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TENSORS_HASH = re.compile(r"[0-9a-f]{12}(?:[0-9a-f]{52})?")
_TAG = re.compile(r"<[^<>]{0,200}>")


def cards_of(index: TensorIndex) -> tuple[Card, ...]:
    """Return all cards of a single file, in order of precedence."""
    found = (
        _modelspec("metadata: modelspec", index.metadata),
        _kohya(index),
        *(read(index.path.with_suffix(ending)) for ending, read in _READERS.items()),
    )
    return tuple(card for card in found if card is not None)


def _modelspec(source: str, metadata: Mapping[str, str]) -> Card | None:
    def text_of(field: str) -> str:
        return _short(metadata.get(f"modelspec.{field}"))

    stated = text_of("hash_sha256").casefold().removeprefix("0x")
    card = Card(
        source,
        base_model=text_of("architecture"),
        side=_side(text_of("resolution")),
        title=text_of("title"),
        trained_words=_listed(text_of("trigger_phrase")),
        notes=text_of("usage_hint"),
        # The specification hashes the tensors without the header.
        tensors_hashes=_hashes((stated,), _TENSORS_HASH),
        description=_short(metadata.get("modelspec.description"), MAX_DESCRIPTION),
    )
    return _unless_empty(card)


def _kohya(index: TensorIndex) -> Card | None:
    def text_of(field: str) -> str:
        return _short(index.metadata.get(f"ss_{field}"))

    card = Card(
        "metadata: kohya",
        base_model=text_of("base_model_version"),
        side=_side(text_of("resolution")),
        title=text_of("output_name"),
        tensors_hashes=_hashes((index.metadata.get("sshs_model_hash", ""),), _TENSORS_HASH),
    )
    return _unless_empty(card)


# --- files next to the checkpoint or LoRA ---


def _swarm(path: Path) -> Card | None:
    """Read SwarmUI's card: ModelSpec's fields, not all of which need be texts."""
    fields = _read(path, dict[str, object])
    if fields is None:
        return None
    texts = {field: value for field, value in fields.items() if isinstance(value, str)}
    return _modelspec(_short(path.name), texts)


def _text(path: Path) -> Card | None:
    try:
        text = read_bounded(path, MAX_CARD_BYTES).decode(errors="replace")
    except OSError:
        return None
    return _unless_empty(Card(_short(path.name), description=_short(text, MAX_DESCRIPTION)))


class _Hashes(msgspec.Struct, frozen=True):
    sha256: str | None = msgspec.field(name="SHA256", default=None)
    auto_v3: str | None = msgspec.field(name="AutoV3", default=None)


class _CivitaiFile(msgspec.Struct, frozen=True):
    hashes: _Hashes | None = None


class _CivitaiModel(msgspec.Struct, frozen=True):
    name: str | None = None


class _CivitaiCard(msgspec.Struct, frozen=True):
    """A model version from Civitai's API, as download tools save it next to the file."""

    base_model: str | None = msgspec.field(name="baseModel", default=None)
    trained_words: tuple[str, ...] | None = msgspec.field(name="trainedWords", default=None)
    name: str | None = None
    model: _CivitaiModel | None = None
    description: str | None = None
    files: tuple[_CivitaiFile, ...] | None = None


class _A1111Card(msgspec.Struct, frozen=True):
    """A card as A1111's editor saves it (`modules/ui_extra_networks_user_metadata.py`)."""

    sd_version: str | None = msgspec.field(name="sd version", default=None)
    activation_text: str | None = msgspec.field(name="activation text", default=None)
    notes: str | None = None
    description: str | None = None
    preferred_weight: float | None = msgspec.field(name="preferred weight", default=None)
    negative_text: str | None = msgspec.field(name="negative text", default=None)


class _MatrixCard(msgspec.Struct, frozen=True, rename="pascal"):
    """Stability Matrix's copy of Civitai's page (`Models/ConnectedModelInfo.cs`)."""

    model_name: str | None = None
    version_name: str | None = None
    base_model: str | None = None
    trained_words: tuple[str, ...] | None = None
    hashes: _Hashes | None = None
    model_description: str | None = None


class _ManagerCard(msgspec.Struct, frozen=True):
    """A card of ComfyUI's LoRA Manager (`py/utils/models.py`, `LoraMetadata`)."""

    model_name: str | None = None
    base_model: str | None = None
    sha256: str | None = None
    notes: str | None = None
    usage_tips: str | None = None
    civitai: _CivitaiCard | None = None
    description: str | None = msgspec.field(name="modelDescription", default=None)


class _Tips(msgspec.Struct, frozen=True):
    strength: float | None = None


_TIPS = msgspec.json.Decoder(_Tips)

CardT = TypeVar("CardT", _CivitaiCard, _A1111Card, _MatrixCard, _ManagerCard, dict[str, object])


def _civitai(path: Path) -> Card | None:
    fields = _read(path, _CivitaiCard)
    if fields is None:
        return None
    hashes = [file.hashes for file in fields.files or () if file.hashes]
    names = (fields.model.name if fields.model else None, fields.name)
    card = Card(
        _short(path.name),
        base_model=_short(fields.base_model),
        title=" ".join(filter(None, map(_short, names))),
        trained_words=_words(fields.trained_words),
        hashes=_hashes([hash_.sha256 for hash_ in hashes], _SHA256),
        tensors_hashes=_hashes([hash_.auto_v3 for hash_ in hashes], _TENSORS_HASH),
        description=_page(fields.description),
    )
    return _unless_empty(card)


def _matrix(path: Path) -> Card | None:
    fields = _read(path, _MatrixCard)
    if fields is None:
        return None
    hashes = fields.hashes or _Hashes()
    card = Card(
        _short(path.name),
        base_model=_short(fields.base_model),
        title=" ".join(filter(None, map(_short, (fields.model_name, fields.version_name)))),
        trained_words=_words(fields.trained_words),
        hashes=_hashes([hashes.sha256], _SHA256),
        tensors_hashes=_hashes([hashes.auto_v3], _TENSORS_HASH),
        description=_page(fields.model_description),
    )
    return _unless_empty(card)


def _manager(path: Path) -> Card | None:
    fields = _read(path, _ManagerCard)
    if fields is None:
        return None
    page = fields.civitai or _CivitaiCard()
    try:
        tips = decode_json((fields.usage_tips or "{}").encode(), _TIPS)
    except (JsonError, UnicodeEncodeError):
        tips = _Tips()
    card = Card(
        _short(path.name),
        base_model=_short(fields.base_model),
        title=_short(fields.model_name),
        trained_words=_words(page.trained_words),
        notes=_short(fields.notes),
        hashes=_hashes([fields.sha256], _SHA256),
        weight=_weight(tips.strength),
        description=_page(fields.description),
    )
    return _unless_empty(card)


def _a1111(path: Path) -> Card | None:
    fields = _read(path, _A1111Card)
    if fields is None:
        return None
    unknown = (fields.sd_version or "").casefold() == "unknown"
    card = Card(
        _short(path.name),
        base_model="" if unknown else _short(fields.sd_version),
        trained_words=_listed(_short(fields.activation_text)),
        notes=_short(fields.notes),
        # A1111 stores 0 for no weight.
        weight=_weight(fields.preferred_weight),
        negative=_short(fields.negative_text),
        description=_short(fields.description, MAX_DESCRIPTION),
    )
    return _unless_empty(card)


def _read(path: Path, kind: type[CardT]) -> CardT | None:
    """Read a card; return None if it is absent or damaged, since cards are optional."""
    try:
        return read_json(path, msgspec.json.Decoder(kind), MAX_CARD_BYTES)
    except (OSError, JsonError):
        return None


# The readers of the cards next to a file by the ends of their names, in order of precedence.
_READERS: Mapping[str, Callable[[Path], Card | None]] = {
    ".swarm.json": _swarm,
    ".civitai.info": _civitai,
    ".cm-info.json": _matrix,
    ".metadata.json": _manager,
    ".json": _a1111,
    ".txt": _text,
}
CARD_ENDINGS = tuple(_READERS)


def _unless_empty(card: Card) -> Card | None:
    """Return the card, or None if it has no facts."""
    return card if card != Card(card.source) else None


def _words(words: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(filter(None, map(_short, (words or ())[:MAX_WORDS])))


def _page(html: str | None) -> str:
    """Return the text of a page of Civitai's, which is in HTML."""
    return _short(_TAG.sub(" ", (html or "")[:_LONGEST]), MAX_DESCRIPTION)


def _hashes(stated: Iterable[str | None], form: re.Pattern[str]) -> frozenset[str]:
    hashes = ((value or "").casefold() for value in stated)
    return frozenset(value for value in hashes if form.fullmatch(value))


def _weight(stated: float | None) -> float | None:
    return stated if stated and math.isfinite(stated) else None


def _short(text: str | None, most: int = MAX_TEXT) -> str:
    """Return a text as one printable line of at most `most` characters."""
    line = " ".join((text or "")[: 4 * most].split())
    return "".join(sign for sign in line if sign.isprintable())[:most]


def _listed(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in text.split(","))
    return tuple(part for part in parts if part)[:MAX_WORDS]


def _side(text: str) -> int | None:
    """Return the side of a square with the area of "1024x1024", "(768, 512)" or "768".

    The side is rounded to a multiple of 64; None for other texts and for sides out of range.
    """
    match = _SIZE.fullmatch(text)
    if not match:
        return None
    width, height = int(match[1]), int(match[2] or match[1])
    side = round(math.sqrt(width * height) / 64) * 64
    return side if _SIDES[0] <= side <= _SIDES[1] else None
