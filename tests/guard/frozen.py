"""The frozen pictures and records, and the comparison with new ones.

`frozen/pictures.json` has a line for each picture: the digest of its pixels, and the differences of
its record from the usual one. `frozen/pixels.npz` has every second pixel of every second row,
uint8.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from platform import machine, system
from typing import Any

import numpy as np

from tests.guard.engine import Made, Pixels

Settings = Mapping[str, Any]

_FOLDER = Path(__file__).parent / "frozen"
_PICTURES, _PIXELS = _FOLDER / "pictures.json", _FOLDER / "pixels.npz"
_DIGEST = "pixels"


@dataclass(frozen=True)
class Frozen:
    """The frozen pictures and records, by the names of pictures."""

    made_with: Mapping[str, str]
    digests: Mapping[str, str]
    records: Mapping[str, Settings]
    kept: Mapping[str, Pixels]

    @property
    def is_of_this_machine(self) -> bool:
        """Return True if this machine rounds floats as the one that froze the pictures."""
        return self.made_with == arithmetic()


def arithmetic() -> dict[str, str]:
    """The facts that rounding depends on: the runtimes choose their kernels by instruction set."""
    found: Any = np.show_config(mode="dicts")
    return {
        "system": f"{system()} {machine()}",
        "instructions": " ".join(found["SIMD Extensions"]["found"]),
        "onnxruntime": version("onnxruntime"),
        "numpy": version("numpy"),
    }


def kept(pixels: Pixels) -> Pixels:
    """The part of a picture that is kept."""
    return np.ascontiguousarray(pixels[::2, ::2])


def exists() -> bool:
    """Return True if there are frozen pictures."""
    return _PICTURES.is_file()


@cache
def read() -> Frozen:
    """Read the frozen pictures and records."""
    read: Any = json.loads(_PICTURES.read_text())
    usual, pictures = read["usual"], read["pictures"]
    with np.load(_PIXELS) as arrays:
        return Frozen(
            read["made_with"],
            {name: line[_DIGEST] for name, line in pictures.items()},
            {name: _without_digest({**usual, **line}) for name, line in pictures.items()},
            {name: arrays[name] for name in arrays.files},
        )


def _without_digest(line: Settings) -> Settings:
    return {name: value for name, value in line.items() if name != _DIGEST}


def write(pictures: Sequence[Made]) -> None:
    """Freeze these pictures; the usual record has what most of them have.

    Of settings that only some records have, such as control layers, nothing is usual.
    """
    shared = [
        name
        for name in pictures[0].settings
        if all(name in picture.settings for picture in pictures)
    ]
    usual = {name: _most_frequent(pictures, name) for name in shared}
    lines = [
        f"{json.dumps(made.name)}: {json.dumps({_DIGEST: made.digest, **_other(made, usual)})}"
        for made in pictures
    ]
    head = f'"made_with": {json.dumps(arithmetic())},\n"usual": {json.dumps(usual)}'
    body = ",\n".join(lines)
    _FOLDER.mkdir(exist_ok=True)
    _PICTURES.write_text(f'{{{head},\n"pictures": {{\n{body}\n}}}}\n')
    np.savez_compressed(_PIXELS, allow_pickle=False, **{m.name: kept(m.pixels) for m in pictures})


def _most_frequent(pictures: Sequence[Made], name: str) -> Any:
    found = Counter(json.dumps(made.settings[name]) for made in pictures)
    return json.loads(found.most_common(1)[0][0])


def _other(made: Made, usual: Settings) -> Settings:
    missing = object()
    return {
        name: value for name, value in made.settings.items() if value != usual.get(name, missing)
    }


# --- comparing ---


@dataclass(frozen=True)
class Tolerance:
    """The distance that a picture may have from that of another processor."""

    # Of 256.
    levels: int
    # Of its pixels.
    share: float


# Kernels of another instruction set round sums otherwise in the last bit, and a level differs where
# that crosses a border between two. Measured with an emulated Haswell (AVX2) beside AVX-512, of
# Euler, Euler a and DPM++ SDE: at most one level, in at most 0.1 % of pixels. A sampler's constant
# that is off by 1 % shows in 4 % or more, but one of the VAE's that is off by 0.04 % does not.
ELSEWHERE = Tolerance(levels=1, share=0.01)
# DPM adaptive takes the length of a step from the difference of two predictions that are nearly the
# same, so the last bit of the network's output moves every later step. Measured with outputs whose
# last bits are random: at most one level, in at most 2 % of pixels, and 1.6 % on AVX2. What goes
# wrong shows by as much more: a constant that is off by 1 % in 35 % of pixels or more, one that is
# off by 0.1 % in 30 %.
ELSEWHERE_OF_SAMPLERS = {"dpm_adaptive": Tolerance(levels=1, share=0.05)}


def differences(made: Made, frozen: Frozen) -> list[str]:
    """Sentences; none where picture and record are as they were."""
    if made.name not in frozen.digests:
        return ["it is not frozen"]
    record = frozen.records[made.name]
    return [*_changed_settings(made.settings, record), *_pixels(made, frozen, allowed_of(record))]


def allowed_of(record: Settings) -> Tolerance:
    """Return the distance that a picture of these settings may have on another processor."""
    return ELSEWHERE_OF_SAMPLERS.get(record["request.sampler"], ELSEWHERE)


def _changed_settings(now: Settings, before: Settings) -> list[str]:
    nothing = "nothing"
    return [
        f"{name} is {now.get(name, nothing)!r} and was {before.get(name, nothing)!r}"
        for name in sorted(now.keys() | before.keys())
        if now.get(name, nothing) != before.get(name, nothing)
    ]


def _pixels(made: Made, frozen: Frozen, allowed: Tolerance) -> list[str]:
    if made.digest == frozen.digests[made.name]:
        return []
    now, before = kept(made.pixels), frozen.kept[made.name]
    if now.shape != before.shape:
        return [f"its size is {now.shape} and was {before.shape}, at every second pixel"]
    apart = np.abs(now.astype(int) - before)
    differing = apart.max(axis=2) > 0
    within = apart.max() <= allowed.levels and differing.mean() <= allowed.share
    if within and not frozen.is_of_this_machine:
        return []
    return [
        f"{differing.sum()} of {differing.size} pixels differ, by at most {apart.max()} of 256 "
        f"levels and {apart.mean():.2g} on average (every second pixel of every second row)"
    ]
