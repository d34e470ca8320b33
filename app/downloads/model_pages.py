"""Pages of models as sites describe them, in the JSON that Civitai and Hugging Face document."""

import re

import msgspec

from app.downloads.file_names import safe_file_name
from app.downloads.links import Link, encoded, hugging_face_url
from app.downloads.source import host_of
from engine.api.model_files import ModelKind
from engine.api.weight_suffixes import WEIGHT_SUFFIXES
from engine.folders import PIPELINE_FILE
from engine.untrusted_json import decode_json

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOST_TEXT = 200
_CIVITAI_KINDS = {
    "Checkpoint": ModelKind.CHECKPOINT,
    "LORA": ModelKind.LORA,
    "LoCon": ModelKind.LORA,
    "DoRA": ModelKind.LORA,
    "TextualInversion": ModelKind.EMBEDDING,
    "VAE": ModelKind.VAE,
    "Controlnet": ModelKind.CONTROLNET,
    "Upscaler": ModelKind.UPSCALER,
}
_FILE_KINDS = {"VAE": ModelKind.VAE, "Text Encoder": ModelKind.TEXT_ENCODER}


class OfferedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that can be downloaded; a size of 0 and an empty hash are unknown.

    `about` tells files of one model apart, such as "fp16 · pruned".
    """

    name: str
    url: str
    size: int = 0
    sha256: str = ""
    kind: ModelKind = ModelKind.OTHER
    about: str = ""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A model as its site describes it; texts that are not known are empty.

    `card` is Civitai's own description of the version, which is kept beside the file.
    """

    title: str
    files: tuple[OfferedFile, ...]
    base_model: str = ""
    licence: str = ""
    card: bytes = b""


class _Hashes(msgspec.Struct, frozen=True):
    sha256: str | None = msgspec.field(name="SHA256", default=None)


class _Details(msgspec.Struct, frozen=True):
    fp: str | None = None
    size: str | None = None
    format: str | None = None


class _CivitaiFile(msgspec.Struct, frozen=True):
    name: str
    url: str = msgspec.field(name="downloadUrl")
    kilobytes: float = msgspec.field(name="sizeKB", default=0.0)
    type: str | None = None
    primary: bool | None = None
    hashes: _Hashes | None = None
    metadata: _Details | None = None


class _Version(msgspec.Struct, frozen=True):
    id: int
    name: str | None = None
    base_model: str | None = msgspec.field(name="baseModel", default=None)
    files: tuple[_CivitaiFile, ...] = ()


class _Model(msgspec.Struct, frozen=True):
    name: str
    type: str | None = None
    # A list of words, or in older answers one word.
    commercial: tuple[str, ...] | str | None = msgspec.field(
        name="allowCommercialUse", default=None
    )
    no_credit: bool | None = msgspec.field(name="allowNoCredit", default=None)
    versions: tuple[msgspec.Raw, ...] = msgspec.field(name="modelVersions", default=())


class _Owner(msgspec.Struct, frozen=True):
    model: int = msgspec.field(name="modelId")


class _Lfs(msgspec.Struct, frozen=True):
    sha256: str
    size: int


class _Sibling(msgspec.Struct, frozen=True):
    name: str = msgspec.field(name="rfilename")
    size: int | None = None
    lfs: _Lfs | None = None


class _CardData(msgspec.Struct, frozen=True):
    license: str | tuple[str, ...] | None = None
    license_name: str | None = None
    base_model: str | tuple[str, ...] | None = None


class _Repository(msgspec.Struct, frozen=True):
    siblings: tuple[_Sibling, ...] = ()
    card: _CardData | None = msgspec.field(name="cardData", default=None)


_model_decoder = msgspec.json.Decoder(_Model)
_version_decoder = msgspec.json.Decoder(_Version)
_owner_decoder = msgspec.json.Decoder(_Owner)
_repository_decoder = msgspec.json.Decoder(_Repository)


def civitai_model_of(content: bytes) -> str:
    """Return the number of the model that a version belongs to. Raises ValueError."""
    return str(decode_json(content, _owner_decoder).model)


def civitai_page(content: bytes, link: Link) -> Page:
    """Return a model's page: the version that a link names, else the first. Raises ValueError.

    The file that the link means comes first.
    """
    model = decode_json(content, _model_decoder)
    versions = [(decode_json(bytes(raw), _version_decoder), bytes(raw)) for raw in model.versions]
    if not versions:
        raise ValueError("the page has no version")
    named = (entry for entry in versions if str(entry[0].id) == link.version)
    chosen, card = next(named, versions[0])
    kind = _CIVITAI_KINDS.get(model.type or "", ModelKind.OTHER)
    files = sorted(chosen.files, key=lambda file: (not _is_meant(file, link), not file.primary))
    offered = tuple(_offered(file, kind) for file in files if _is_weights(file.name))
    if not offered:
        raise ValueError("the page has no file of weights")
    return Page(
        title=" · ".join(filter(None, (_text(model.name), _text(chosen.name)))),
        files=offered,
        base_model=_text(chosen.base_model),
        licence=_civitai_terms(model),
        card=card,
    )


def hugging_face_page(content: bytes, link: Link) -> Page:
    """Return a repository's page with its files of weights, or the link's. Raises ValueError."""
    repository = decode_json(content, _repository_decoder)
    wanted = _wanted(repository.siblings, link)
    if not wanted:
        raise ValueError("the repository has no such file of weights")
    card = repository.card or _CardData()
    stated = card.license_name or _first(card.license)
    return Page(
        title=f"{link.repository} · {wanted[0].name}" if link.file else link.repository,
        files=tuple(
            OfferedFile(
                name=safe_file_name(sibling.name.rpartition("/")[2]),
                url=hugging_face_url(link, sibling.name),
                size=sibling.lfs.size if sibling.lfs else sibling.size or 0,
                sha256=_hash(sibling.lfs.sha256 if sibling.lfs else ""),
                about="" if link.file else _text(sibling.name.rpartition("/")[0]),
            )
            for sibling in wanted
        ),
        base_model=_text(_first(card.base_model)),
        licence=_text(stated),
    )


def _wanted(siblings: tuple[_Sibling, ...], link: Link) -> list[_Sibling]:
    """Return the files of weights that a link means.

    Of a whole repository those that lie in no folder; where there are none, all but the parts of a
    diffusers folder.
    """
    weights = [sibling for sibling in siblings if _is_weights(sibling.name)]
    if link.file:
        return [sibling for sibling in weights if sibling.name == link.file]
    inside = [sibling for sibling in weights if sibling.name.rpartition("/")[0] == link.folder]
    is_pipeline = any(sibling.name == PIPELINE_FILE for sibling in siblings)
    return inside if inside or link.folder or is_pipeline else weights


def _is_meant(file: _CivitaiFile, link: Link) -> bool:
    """Return True unless a link to a download says something else of its file."""
    details = file.metadata or _Details()
    facts = {"type": file.type, "format": details.format, "size": details.size, "fp": details.fp}
    return all(facts.get(name, value) == value for name, value in link.wanted)


def _offered(file: _CivitaiFile, kind: ModelKind) -> OfferedFile:
    url = encoded(file.url)
    host_of(url)  # raises ValueError for an address without sense
    details = file.metadata or _Details()
    about = " · ".join(filter(None, map(_text, (details.fp, details.size, details.format))))
    return OfferedFile(
        name=safe_file_name(file.name),
        url=url,
        # The site states kibibytes, as a fraction that is exact.
        size=round(file.kilobytes * 1024),
        sha256=_hash(file.hashes.sha256 if file.hashes else ""),
        kind=_FILE_KINDS.get(file.type or "", kind),
        about=about,
    )


def _civitai_terms(model: _Model) -> str:
    """Return the terms of use that a page states, in the site's own words."""
    allowed = model.commercial
    words = allowed if isinstance(allowed, str) else ", ".join(allowed or ())
    credit = "" if model.no_credit is None else "not needed" if model.no_credit else "needed"
    terms = (
        f"commercial use: {words or 'None'}" if allowed is not None else "",
        f"credit: {credit}" if credit else "",
    )
    return "; ".join(filter(None, terms))


def _is_weights(name: str) -> bool:
    return name.lower().endswith(WEIGHT_SUFFIXES)


def _hash(text: str | None) -> str:
    found = (text or "").lower()
    return found if _SHA256.fullmatch(found) else ""


def _first(stated: str | tuple[str, ...] | None) -> str:
    return stated if isinstance(stated, str) else next(iter(stated or ()), "")


def _text(stated: str | None) -> str:
    """Return a text as one printable line."""
    line = " ".join((stated or "")[: 4 * _MOST_TEXT].split())
    return "".join(sign for sign in line if sign.isprintable())[:_MOST_TEXT]
