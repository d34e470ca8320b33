"""Pictures that were made already: the same seed with the same settings makes the same file."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from app.form.generation import EffectiveSettings
from app.form.kept_settings import settings_of
from app.library.picture_files import Picture
from app.queue.counted_seeds import counted_seed, with_counted_seed
from engine.api.control import ControlLayer
from engine.api.conventions import choice_of, convention_of
from engine.api.image_prompts import ImagePrompt
from engine.api.request import GenerateRequest
from engine.api.second_passes import SecondPass
from engine.api.values import InputRole, TextWeightBits, WeightBits
from engine.errors import EngineError

NamingT = TypeVar("NamingT", ControlLayer, ImagePrompt, SecondPass)
_HASHES = frozenset(
    {
        *("hash", "digest", "preprocessor_digest", "encoder_digest"),
        *("upscaler_digest", "checkpoint_digest"),
    }
)
# Paths by the seeds that count up.
Repeats = dict[int, str]
# The pattern of names is the user's: any number in one may be the seed.
_NUMBER = re.compile(r"\d{1,20}", re.ASCII)


def filled(request: GenerateRequest, effective: EffectiveSettings) -> GenerateRequest:
    """Return a request whose open choices are filled with the effective settings."""
    values = msgspec.structs.asdict(effective)
    if not any(file.role is InputRole.INIT for file in request.inputs):
        values["strength"] = None
    return msgspec.structs.replace(request, **values)


def find_repeats(
    wanted: GenerateRequest,
    seeds: Sequence[int],
    digest: str | None,
    pictures: Sequence[Picture],
    shown: str | None,
) -> Repeats:
    """Return the pictures made of the filled request `wanted` with these seeds; reads the disk.

    Only pictures with such a seed in their names, and the shown one, are read. `digest` is the
    checkpoint's, None if it is unknown.
    """
    looked_for = frozenset(seeds)
    # Variations have the seed of their picture in their names.
    shared = {wanted.seed} if wanted.seed_options.is_varied else None
    found: Repeats = {}
    for path in (*filter(None, [shown]), *(picture.path for picture in pictures)):
        named = frozenset(map(int, _NUMBER.findall(Path(path).name)))
        left = looked_for - found.keys()
        if path != shown and not (left and named & (shared or left)):
            continue
        seed = _seed_if_same(path, wanted, digest)
        if seed in looked_for:
            found.setdefault(seed, path)
    return found


def _seed_if_same(path: str, wanted: GenerateRequest, digest: str | None) -> int | None:
    """Return a picture's seed if it was made with these settings, else None."""
    # Here, as the window starts sooner without the readers of a dozen tools.
    from engine.metadata.readers import read_request

    try:
        imported = read_request(Path(path), decode=False)
    except EngineError:
        return None
    record = imported.record
    # An enlarged picture is not the one that these settings make.
    if (
        record is None
        or record.upscales
        or (digest is not None and record.checkpoint_digest != digest)
    ):
        return None
    if _comparable(imported.request) != _comparable(wanted):
        return None
    return counted_seed(imported.request)


def _comparable(request: GenerateRequest) -> GenerateRequest:
    """Return a request for comparison: no seed, count or machine fields, one form of each value."""
    settings = with_counted_seed(settings_of(request), None)
    refiner = settings.refiner
    return msgspec.structs.replace(
        settings,
        weight_bits=WeightBits.AUTO,
        text_weight_bits=TextWeightBits.SAME,
        count=1,
        refiner=refiner if refiner is not None and refiner.checkpoint else None,
        convention=choice_of(convention_of(settings.convention)),
        controls=tuple(map(_by_path, settings.controls)),
        image_prompts=tuple(map(_by_path, settings.image_prompts)),
        second_passes=tuple(map(_by_path, settings.second_passes)),
    )


def _by_path(named: NamingT) -> NamingT:
    """Return a layer or a pass without the hashes by which a record names its files, too."""
    hashes = {name: None for name in named.__struct_fields__ if name in _HASHES}
    return msgspec.structs.replace(named, **hashes)
