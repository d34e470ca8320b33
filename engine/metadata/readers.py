"""From a picture's metadata to a request that makes it again: ours exactly, others' as it maps.

Everything here comes from a file of unknown origin: numbers are range-checked, names of checkpoints
never become paths, and our own record's paths are taken only if they are local.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.api import (
    ComponentFiles,
    ErrorCode,
    GenerateRequest,
    GenerationRecord,
    ResolvedRequest,
    SamplerName,
    ScheduleName,
)
from engine.api.conventions import choice_of
from engine.api.limits import (
    MAX_CLIP_SKIP,
    MAX_GUIDANCE,
    MAX_SEED,
    MAX_SIDE,
    MAX_STEPS,
    MIN_SIDE,
)
from engine.errors import EngineError
from engine.metadata.infotext import Infotext, parse_infotext
from engine.metadata.png import read_text_chunks
from engine.metadata.record import (
    PARAMETERS_KEYWORD,
    find_record,
    has_init,
)


@dataclass(frozen=True, slots=True)
class ImportedRequest:
    """A request read from a picture; `warnings` are sentences on what it could not take over.

    `record` is ours, where the picture has one: its digest tells whether the checkpoint is still
    the same file.
    """

    request: GenerateRequest
    warnings: tuple[str, ...] = ()
    record: GenerationRecord | None = None


def read_request(path: Path) -> ImportedRequest:
    """Read the request of a PNG file: from our record, else from AUTOMATIC1111's text.

    Raises METADATA_MISSING if it has neither, INPUT_IMAGE_UNREADABLE if it is no readable PNG.
    """
    chunks = read_text_chunks(path)
    record = find_record(chunks)
    if record is not None:
        return import_record(record)
    for chunk in chunks:
        # Text that starts a JSON object is another tool's.
        if chunk.keyword == PARAMETERS_KEYWORD and not chunk.text.lstrip().startswith("{"):
            return _from_infotext(parse_infotext(chunk.text))
    tools = ", ".join(sorted({_plain(chunk.keyword) for chunk in chunks}))
    raise EngineError(
        ErrorCode.METADATA_MISSING,
        f"The picture {path} does not say how it was made.",
        "Choose a picture made by Safelight or AUTOMATIC1111, as the original PNG file.",
        f"Its text chunks: {tools or 'none'}.",
    )


# UNC and device paths: opening one on Windows sends the user's credentials to the server it names.
_LOCAL_DEVICE = re.compile(r"\\\\\?\\[A-Za-z]:\\")


def _is_local(path: str) -> bool:
    if "\0" in path:
        return False
    return not path.startswith(("\\\\", "//")) or _LOCAL_DEVICE.match(path) is not None


# What a request and its resolved form call alike.
_RECORDED = tuple(
    name for name in ResolvedRequest.__struct_fields__ if name in GenerateRequest.__struct_fields__
)


def import_record(record: GenerationRecord) -> ImportedRequest:
    """The request that makes a recorded picture again."""
    request = record.request
    warnings: list[str] = []

    def local(path: str | None) -> str | None:
        if path is None or _is_local(path):
            return path
        warnings.append(f'The network path "{_plain(path)}" was not taken over; choose the file.')
        return None

    changes: dict[str, Any] = {
        "checkpoint": local(request.checkpoint),
        "components": ComponentFiles(
            denoiser=local(request.components.denoiser),
            text_encoder=local(request.components.text_encoder),
            vae=local(request.components.vae),
        ),
        "inputs": tuple(i for i in request.inputs if local(i.path) is not None),
        "strength": request.strength if has_init(request) else None,
        "convention": choice_of(request.convention),
        # What the wildcards became is in the prompt already.
        "expand_wildcards": False,
    }
    same: dict[str, Any] = {name: getattr(request, name) for name in _RECORDED}
    return ImportedRequest(GenerateRequest(**(same | changes)), tuple(warnings), record)


_SAMPLERS = {
    **{sampler.label.casefold(): sampler for sampler in SamplerName},
    **{sampler.value: sampler for sampler in SamplerName},
    "dpm++2m": SamplerName.DPMPP_2M,
}
_SCHEDULES = {
    **{schedule.label.casefold(): schedule for schedule in ScheduleName},
    **{schedule.value: schedule for schedule in ScheduleName},
    # k-diffusion's own spacing, which "Normal" equals.
    "uniform": ScheduleName.NORMAL,
    "sgmuniform": ScheduleName.SGM_UNIFORM,
}
# Schedules of AUTOMATIC1111 that we lack, to recognise them behind a sampler's name.
_OTHER_SCHEDULES = ("automatic", "exponential", "polyexponential", "kl optimal", "ddim")
# What "Automatic" stands for where it is not "Normal".
_AUTOMATIC = {SamplerName.DPMPP_2M: "karras", SamplerName.DPMPP_2M_SDE: "exponential"}
_OLD_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})", re.ASCII)

_MAPPED = frozenset(
    {
        "Steps", "Sampler", "Schedule type", "CFG scale", "Seed", "Size", "Clip skip",
        "Denoising strength", "RNG", "Model",
    }
)  # fmt: skip
# They describe and do not change the picture beyond what other keys say.
_DESCRIPTIVE = frozenset({"Model hash", "VAE hash", "Version", "User", "SDCPP"})


class _Reader:
    """Reads the values of one text, collecting a warning for each that does not map."""

    def __init__(self, info: Infotext) -> None:
        self.info = info
        self.warnings: list[str] = []

    def refuse(self, key: str) -> None:
        self.warnings.append(f'"{key}: {_plain(self.info.get(key) or "")}" was not taken over.')

    def number(self, key: str, low: float, high: float) -> float | None:
        """A finite number from `low` to `high`; None where there is none."""
        text = self.info.get(key)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if low <= value <= high:
            return value
        self.refuse(key)
        return None

    def integer(self, key: str, low: int, high: int) -> int | None:
        """A whole number from `low` to `high`; None where there is none."""
        text = self.info.get(key)
        if text is None:
            return None
        # More than 20 digits are out of any range here, and int() is quadratic.
        if re.fullmatch(r"\d{1,20}", text, re.ASCII) and low <= int(text) <= high:
            return int(text)
        self.refuse(key)
        return None

    def size(self) -> tuple[int | None, int | None]:
        """Width and height, both or neither."""
        size = self.info.size("Size")
        if size is not None and all(MIN_SIDE <= side <= MAX_SIDE for side in size):
            return size
        if self.info.get("Size") is not None:
            self.refuse("Size")
        return None, None

    def sampler(self) -> tuple[SamplerName | None, ScheduleName | None]:
        """Sampler and schedule; files before AUTOMATIC1111 1.9 name both in one."""
        name = self.info.get("Sampler")
        if name is None:
            return None, None
        sampler_name, fused = _split_sampler(name.casefold())
        sampler = _SAMPLERS.get(sampler_name)
        if sampler is None:
            self.refuse("Sampler")
        wanted = (self.info.get("Schedule type") or fused or "automatic").casefold()
        if wanted == "automatic":
            wanted = self._automatic(sampler)
        schedule = _SCHEDULES.get(wanted)
        if schedule is None:
            self.warnings.append(f'The schedule "{_plain(wanted)}" was not taken over.')
        return sampler, schedule

    def _automatic(self, sampler: SamplerName | None) -> str:
        version = self.info.get("Version")
        old = _OLD_VERSION.match(version or "")
        # Before 1.9 a name without a schedule meant the plain one.
        if version is None or (old and (int(old[1]), int(old[2])) < (1, 9)) or sampler is None:
            return "normal"
        return _AUTOMATIC.get(sampler, "normal")


def _split_sampler(name: str) -> tuple[str, str | None]:
    """Split "dpm++ 2m karras" into sampler and schedule."""
    for schedule in (*_SCHEDULES, *_OTHER_SCHEDULES):
        if name.endswith(" " + schedule):
            return name.removesuffix(" " + schedule), schedule
    return name, None


def _from_infotext(info: Infotext) -> ImportedRequest:
    reader = _Reader(info)
    width, height = reader.size()
    sampler, schedule = reader.sampler()
    request = GenerateRequest(
        prompt=info.prompt,
        negative_prompt=info.negative_prompt,
        width=width,
        height=height,
        steps=reader.integer("Steps", 1, MAX_STEPS),
        guidance=reader.number("CFG scale", 0, MAX_GUIDANCE),
        sampler=sampler,
        schedule=schedule,
        seed=reader.integer("Seed", 0, MAX_SEED),
        clip_skip=reader.integer("Clip skip", 1, MAX_CLIP_SKIP),
        strength=reader.number("Denoising strength", 0, 1),
    )
    return ImportedRequest(request, (*reader.warnings, *_remarks(info)))


def _remarks(info: Infotext) -> list[str]:
    """What a person must know to get the same picture from these values."""
    remarks: list[str] = []
    model = info.get("Model")
    if model is not None:
        remarks.append(f'It was made with the checkpoint "{_plain(model)}"; choose it to match.')
    if info.parameters and (info.get("RNG") or "GPU").upper() != "CPU":
        remarks.append("Its noise is a GPU's; the same seed gives another picture here.")
    if info.get("Denoising strength") is not None:
        remarks.append("It was made from another picture, which is not in the file.")
    others = {pair.key: None for pair in info.parameters if pair.key not in _MAPPED | _DESCRIPTIVE}
    if others:
        remarks.append(f"Not taken over: {_plain(', '.join(others))}.")
    return remarks


def _plain(text: str) -> str:
    """Text fit for a message: at most 80 characters, no control or direction characters."""
    shown = "".join(character for character in text[:500] if character.isprintable())
    return shown if len(shown) <= 80 else shown[:79] + "…"
