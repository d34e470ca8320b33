"""Cards: descriptions of a checkpoint in its metadata and in files next to it.

Cards are untrusted and often wrong: they may describe another version or have a mistyped name. So
their size is limited, they count only for facts that shapes and keys do not show, and the user is
told of contradictions. In order of precedence: the file's own metadata (Stability AI's ModelSpec,
kohya's trainer), Civitai's card (`.civitai.info`), A1111's card (`.json`).
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.checkpoints.index import TensorIndex
from engine.untrusted_json import JsonError, read_json

# Civitai's cards hold the page's text and its pictures' prompts.
MAX_CARD_BYTES = 1 << 20
MAX_TEXT = 200
MAX_WORDS = 40
_SIDES = (256, 2048)


@dataclass(frozen=True, slots=True)
class Card:
    """The facts about a checkpoint from one source; unknown facts are empty.

    `base_model` is the source's name for the checkpoint's base model: Civitai's base models,
    ModelSpec's architectures (github.com/Stability-AI/ModelSpec), kohya's base versions
    (`library/train_util.py`) or A1111's SD versions. `side` is the side of training pictures in
    pixels. `hashes` are the SHA-256 of the described files, in lower case. Texts have at most
    `MAX_TEXT` characters.
    """

    source: str
    base_model: str = ""
    side: int | None = None
    title: str = ""
    trained_words: tuple[str, ...] = ()
    notes: str = ""
    hashes: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """The source and the base model, as in "x.civitai.info: SD 2.1 768"."""
        return f"{self.source}: {self.base_model}"


_SIZE = re.compile(r"\(?\s*([0-9]{3,4})\s*(?:[x,]\s*([0-9]{3,4})\s*)?\)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def cards_of(index: TensorIndex) -> tuple[Card, ...]:
    """Return all cards of a single file, in order of precedence."""
    found = (
        _modelspec(index),
        _kohya(index),
        _civitai(index.path.with_suffix(".civitai.info")),
        _a1111(index.path.with_suffix(".json")),
    )
    return tuple(card for card in found if card is not None)


def _modelspec(index: TensorIndex) -> Card | None:
    def text_of(field: str) -> str:
        return _short(index.metadata.get(f"modelspec.{field}"))

    card = Card(
        "metadata: modelspec",
        base_model=text_of("architecture"),
        side=_side(text_of("resolution")),
        title=text_of("title"),
        trained_words=_listed(text_of("trigger_phrase")),
        notes=text_of("usage_hint"),
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
    )
    return _unless_empty(card)


# --- files next to the checkpoint ---


class _Hashes(msgspec.Struct, frozen=True):
    sha256: str | None = msgspec.field(name="SHA256", default=None)


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
    files: tuple[_CivitaiFile, ...] | None = None


class _A1111Card(msgspec.Struct, frozen=True):
    """A card as A1111's editor saves it (`modules/ui_extra_networks_user_metadata.py`)."""

    sd_version: str | None = msgspec.field(name="sd version", default=None)
    activation_text: str | None = msgspec.field(name="activation text", default=None)
    notes: str | None = None


CardT = TypeVar("CardT", _CivitaiCard, _A1111Card)


def _civitai(path: Path) -> Card | None:
    card = _read(path, _CivitaiCard)
    if card is None:
        return None
    stated = (file.hashes.sha256 for file in card.files or () if file.hashes)
    hashes = (value.casefold() for value in stated if value)
    names = (card.model.name if card.model else None, card.name)
    card = Card(
        _short(path.name),
        base_model=_short(card.base_model),
        title=" ".join(filter(None, map(_short, names))),
        trained_words=tuple(filter(None, map(_short, (card.trained_words or ())[:MAX_WORDS]))),
        hashes=frozenset(value for value in hashes if _SHA256.fullmatch(value)),
    )
    return _unless_empty(card)


def _a1111(path: Path) -> Card | None:
    card = _read(path, _A1111Card)
    if card is None:
        return None
    unknown = (card.sd_version or "").casefold() == "unknown"
    card = Card(
        _short(path.name),
        base_model="" if unknown else _short(card.sd_version),
        trained_words=_listed(_short(card.activation_text)),
        notes=_short(card.notes),
    )
    return _unless_empty(card)


def _read(path: Path, kind: type[CardT]) -> CardT | None:
    """Read a card; return None if it is absent or damaged, since cards are optional."""
    try:
        return read_json(path, msgspec.json.Decoder(kind), MAX_CARD_BYTES)
    except (OSError, JsonError):
        return None


def _unless_empty(card: Card) -> Card | None:
    """Return the card, or None if it has no facts."""
    return card if card != Card(card.source) else None


def _short(text: str | None) -> str:
    """Return a text as one printable line of at most `MAX_TEXT` characters."""
    line = " ".join((text or "")[: 4 * MAX_TEXT].split())
    return "".join(sign for sign in line if sign.isprintable())[:MAX_TEXT]


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
