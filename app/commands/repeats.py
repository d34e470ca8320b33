"""Pictures that were made already: the same seed with the same settings makes the same file."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.form.generation import EffectiveSettings, settings_of
from app.library.gallery import Picture
from engine.api.conventions import choice_of, convention_of
from engine.api.request import GenerateRequest
from engine.errors import EngineError
from engine.metadata.readers import read_request

# Paths by seeds.
Repeats = dict[int, str]
# The seed in the names that the engine gives.
_SEED = re.compile(r"\d{5,12}-(\d{1,20})\D", re.ASCII)


def filled(request: GenerateRequest, effective: EffectiveSettings) -> GenerateRequest:
    """A request with what the checkpoint decides, as far as that is known here."""
    values = msgspec.structs.asdict(effective)
    if not request.inputs:
        values["strength"] = None
    return msgspec.structs.replace(request, **values)


def find_repeats(
    wanted: GenerateRequest,
    seeds: Sequence[int],
    digest: str | None,
    pictures: Sequence[Picture],
    shown: str | None,
) -> Repeats:
    """Pictures made of `wanted`, which is filled, with one of these seeds; reads the disk.

    Looked at are those whose names have the seed, and the one that is shown. `digest` is that of
    the checkpoint, None where it is not known.
    """
    looked_for = frozenset(seeds)
    found: Repeats = {}
    for path in (*filter(None, [shown]), *(picture.path for picture in pictures)):
        named = _SEED.match(Path(path).name) if path != shown else None
        if path != shown and (named is None or int(named[1]) not in looked_for - found.keys()):
            continue
        seed = _seed_if_same(path, wanted, digest)
        if seed in looked_for:
            found.setdefault(seed, path)
    return found


def _seed_if_same(path: str, wanted: GenerateRequest, digest: str | None) -> int | None:
    """The seed of a picture that was made with these settings; None of any other."""
    try:
        imported = read_request(Path(path), decode=False)
    except EngineError:
        return None
    record = imported.record
    if record is None or (digest is not None and record.checkpoint_digest != digest):
        return None
    if _comparable(imported.request) != _comparable(wanted):
        return None
    return imported.request.seed


def _comparable(request: GenerateRequest) -> GenerateRequest:
    """But for the seed, without the machine's side, each value in one of the ways to write it."""
    settings = settings_of(request)
    refiner = settings.refiner
    return msgspec.structs.replace(
        settings,
        seed=None,
        count=1,
        refiner=refiner if refiner is not None and refiner.checkpoint else None,
        convention=choice_of(convention_of(settings.convention)),
    )
