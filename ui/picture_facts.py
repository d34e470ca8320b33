"""Everything that made a picture, as rows of text: of our own pictures and those of other tools."""

import unicodedata
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from PySide6.QtCore import QCoreApplication, QLocale

from app.decoding import picture_size
from app.form.kept_settings import settings_of
from app.paths import starter_checkpoint
from engine.api.conventions import convention_of
from engine.api.lora import LoraReport
from engine.api.record import GenerationRecord
from engine.api.request import GenerateRequest
from engine.api.runtime_titles import runtime_title
from engine.api.values import InputRole
from engine.errors import EngineError
from ui.advanced_labels import options_summary
from ui.job_labels import upscaler_name
from ui.labels import duration, file_size, size_label, when
from ui.method_labels import adjustments, method_name, tool_label

if TYPE_CHECKING:
    from engine.metadata.readers import ImportedRequest

translate = QCoreApplication.translate

# The most characters of a value: no prompt that a network reads is longer.
_LONGEST = 20_000
# The most rows of values that are under another tool's own keys.
_MOST_FOREIGN = 40
# Digits of a SHA-256, as A1111 and Civitai show it.
_HASH_DIGITS = 10
_KEPT = frozenset("\n\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")
# Categories of Unicode: control, format (which turns the direction of text), surrogate, private.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


class Fact(NamedTuple):
    """A row: what it is, and its value as plain text."""

    label: str
    text: str


class PictureTexts(NamedTuple):
    """The facts of a picture, and its settings as a text that can be pasted.

    The text is empty where the picture does not say how it was made.
    """

    facts: tuple[Fact, ...]
    settings: str

    @property
    def copied(self) -> str:
        """The text for other programs: the settings, else the facts in lines."""
        return self.settings or "\n".join(f"{fact.label}: {fact.text}" for fact in self.facts)


def read_texts(path: str, seconds: float | None = None) -> PictureTexts:
    """Read how a picture was made, for a background thread; `seconds` is the time that it took.

    Never raises: of a picture that says nothing there are only the facts of its file.
    """
    imported = _imported(path)
    return PictureTexts(_facts(path, imported, seconds), _settings(path, imported))


def read_facts(path: str, seconds: float | None = None) -> tuple[Fact, ...]:
    """Read the facts of a picture alone, as `read_texts` does."""
    return _facts(path, _imported(path), seconds)


def _imported(path: str) -> "ImportedRequest | None":
    """Return the request that made a picture; None if that is not told."""
    # Here, as the window starts sooner without the readers of a dozen tools.
    from engine.metadata.readers import read_request

    try:
        return read_request(Path(path))
    except EngineError:
        return None


def _facts(
    path: str, imported: "ImportedRequest | None", seconds: float | None
) -> tuple[Fact, ...]:
    facts: list[tuple[str, str]] = []
    if imported is not None:
        facts += _made_by(imported)
    elif not (size := picture_size(path)).isEmpty():
        facts.append((translate("facts", "Size"), size_label(*size.toTuple())))
    facts += _enlarged(Path(path))
    if seconds is not None:
        facts.append((translate("facts", "Time taken"), duration(seconds)))
    facts += _of_file(Path(path))
    return tuple(Fact(label, shown) for label, text in facts if (shown := seen(text)))


def _settings(path: str, imported: "ImportedRequest | None") -> str:
    # The window starts sooner without the writers of texts, too.
    from engine.metadata.settings_text import settings_text

    try:
        return settings_text(Path(path), imported) if imported is not None else ""
    except EngineError:
        return ""


def seen(text: str) -> str:
    """Return a text of unknown origin as it can be shown: bounded, without unseen characters."""
    text = text[:_LONGEST].replace("\r\n", "\n").replace("\t", " ")
    if text.isascii() and text.isprintable():
        return text.strip()
    shown = (
        letter for letter in text if letter in _KEPT or unicodedata.category(letter) not in _UNSEEN
    )
    return "".join(shown).strip()


def model_name(imported: "ImportedRequest") -> str:
    """Return the name of the model that made a picture; empty if that is not told."""
    from app.gallery.descriptions import bare_name

    checkpoint = imported.request.checkpoint or imported.model
    if Path(checkpoint).parts[-2:] == starter_checkpoint().parts[-2:]:
        return translate("labels", "Safelight starter")
    return seen(bare_name(checkpoint))


def _made_by(imported: "ImportedRequest") -> Iterator[tuple[str, str]]:
    from app.gallery.descriptions import bare_name

    # The window starts sooner without the words about layers, too.
    from ui import layer_facts

    request, record = imported.request, imported.record
    yield translate("facts", "Prompt"), request.prompt
    yield translate("facts", "Negative prompt"), request.negative_prompt
    yield translate("facts", "Model"), model_name(imported)
    if record is not None and record.checkpoint_sha256 is not None:
        yield translate("facts", "Model hash"), record.checkpoint_sha256[:_HASH_DIGITS]
    stated = filter(None, msgspec.structs.astuple(request.override))
    yield translate("facts", "Model stated as"), ", ".join(stated)
    yield from _method(request)
    yield from _from_picture(request)
    if record is not None:
        yield translate("facts", "LoRAs"), "\n".join(map(_lora, record.loras))
        names = ", ".join(report.name for report in record.embeddings)
        yield translate("facts", "Embeddings"), names
    else:
        loras = (lora for lora in request.loras if lora.enabled)
        files = (_strengths(bare_name(lora.file), *lora.strengths) for lora in loras)
        yield translate("facts", "LoRAs"), "\n".join(files)
    if request.refiner is not None and request.refiner.checkpoint:
        start = QLocale().toString(round(100 * request.refiner.switch_at))
        begun = translate("facts", "{refiner}, from {start} % of the steps")
        name = bare_name(request.refiner.checkpoint)
        yield translate("facts", "Refiner"), begun.format(refiner=name, start=start)
    yield translate("facts", "Second passes"), layer_facts.second_pass_lines(request)
    yield translate("facts", "Options"), options_summary(settings_of(request))
    yield from _made_with(imported.tool, request, record)
    for pair in islice(imported.unmapped, _MOST_FOREIGN):
        yield seen(pair.key)[:80], pair.value


def _method(request: GenerateRequest) -> Iterator[tuple[str, str]]:
    if request.width and request.height:
        yield translate("facts", "Size"), size_label(request.width, request.height)
    yield translate("facts", "Steps"), str(request.steps or "")
    if request.sampler is not None:
        yield translate("facts", "Sampler"), method_name(request.sampler)
    if request.schedule is not None:
        yield translate("facts", "Schedule"), method_name(request.schedule)
    if request.guidance is not None:
        yield translate("facts", "Guidance"), _number(request.guidance)
    if request.guidance_options.image_guidance is not None:
        number = _number(request.guidance_options.image_guidance)
        yield translate("facts", "Image guidance"), number
    if request.seed is not None:
        # Without separators of groups: it is copied into fields.
        yield translate("facts", "Seed"), str(request.seed)


def _from_picture(request: GenerateRequest) -> Iterator[tuple[str, str]]:
    from ui import layer_facts

    paths = {image.role: image.path for image in request.inputs}
    if InputRole.INIT in paths:
        yield translate("facts", "Start picture"), paths[InputRole.INIT]
        yield translate("facts", "Mask"), paths.get(InputRole.MASK, "")
        yield translate("facts", "Redrawn part"), layer_facts.mask_line(request)
    if request.strength is not None and InputRole.INIT in paths:
        yield translate("facts", "Strength"), _number(request.strength)
    for image in request.inputs:
        if image.role is InputRole.REFERENCE:
            yield translate("facts", "Reference picture"), image.path
    yield translate("facts", "Control layers"), layer_facts.control_lines(request)
    yield translate("facts", "Image prompts"), layer_facts.image_prompt_lines(request)


def _lora(report: LoraReport) -> str:
    line = _strengths(report.name, report.strength, report.text_strength)
    points = (f"{_number(strength)} @ {_number(at)}" for strength, at in report.points)
    line = ", ".join(filter(None, (line, *points, report.blocks)))
    if report.path is None:
        line = translate("facts", "{lora}, not found").format(lora=line)
    return line


def _strengths(name: str, strength: float, text: float) -> str:
    line = f"{name} {_number(strength)}"
    if text == strength:
        return line
    return translate("facts", "{lora}, {n} on the text").format(lora=line, n=_number(text))


def _made_with(
    tool: str, request: GenerateRequest, record: GenerationRecord | None
) -> Iterator[tuple[str, str]]:
    if record is None:
        yield translate("facts", "Made with"), tool
        return
    yield translate("facts", "Made with"), f"{tool} {record.safelight}"
    habits = adjustments(convention_of(request.convention))
    yield translate("facts", "Results as in"), ", ".join((tool_label(request.convention), *habits))
    runtime, precision = runtime_title(record.request.backend), record.request.precision.value
    yield translate("facts", "Device"), f"{record.device} · {runtime} · {precision}"


def _of_file(path: Path) -> Iterator[tuple[str, str]]:
    try:
        status = path.stat()
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return
    yield translate("facts", "Saved"), f"{when(status.st_mtime_ns)} · {file_size(status.st_size)}"
    yield translate("facts", "File"), str(path)


def _enlarged(path: Path) -> Iterator[tuple[str, str]]:
    """Return what made a finished picture larger here, one line for each time."""
    from engine.metadata.upscales import read_upscales

    try:
        reports = read_upscales(path)
    except EngineError:
        return
    names = (report.name if report.path else upscaler_name(report.name) for report in reports)
    sizes = (size_label(report.width, report.height) for report in reports)
    lines = (f"{name}, {size}" for name, size in zip(names, sizes, strict=True))
    yield translate("facts", "Upscaled by"), "\n".join(lines)


def _number(value: float) -> str:
    return QLocale().toString(value, "g", 6)
