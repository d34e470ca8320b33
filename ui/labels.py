"""Texts of the window in the user's language."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.form.sizes import SizeFit, size_fit
from app.form.starter_words import UnknownWord
from app.library.checkpoints import STARTER_NAME, ListedCheckpoint
from app.notices.wording import worded
from engine.api.checkpoints import CheckpointInfo
from engine.api.features import Features, OptionalSetting
from engine.api.limits import MIN_SIDE
from engine.api.prompts import Hint, HintKind, PromptCheck
from engine.api.request import GenerateRequest
from engine.api.values import Phase, PredictionType

translate = QCoreApplication.translate
# A sentence names so many words, and so many characters of each.
_MOST_WORDS, _LONGEST_WORD = 6, 24

# The number of tokens from which on they are shown: of 75 that fit into a chunk.
_LONG_PROMPT = 60
# Text encoders by their keys in files.
_ENCODERS = {"clip_l": "CLIP-L", "clip_g": "OpenCLIP-G", "t5xxl": "T5-XXL"}


def phase_label(phase: Phase, *, once: bool = False) -> str:
    """Return the name of a phase; `once` is True if it will be quicker in later jobs."""
    if once and phase is Phase.COMPILE:
        return translate("labels", "Preparing the networks for this computer, once")
    return {
        Phase.LOAD: translate("labels", "Reading the model"),
        Phase.COMPILE: translate("labels", "Preparing the networks"),
        Phase.ENCODE: translate("labels", "Reading the prompt"),
        Phase.DENOISE: translate("labels", "Developing"),
        Phase.ENLARGE: translate("labels", "Enlarging"),
        Phase.DECODE: translate("labels", "Decoding"),
        Phase.SAVE: translate("labels", "Saving"),
    }[phase]


def duration(seconds: float) -> str:
    """Return a time span, rounded as in speech."""
    if seconds < 9.5:
        return translate("labels", "{n} s").format(
            n=short_number(max(seconds, 0.1), 1 if seconds < 4.95 else 0)
        )
    if seconds < 90:
        return translate("labels", "{n} s").format(n=round(seconds / 5) * 5)
    if seconds < 5400:
        return translate("labels", "{n} min").format(n=round(seconds / 60))
    return translate("labels", "{n} h").format(n=short_number(seconds / 3600, 1))


def step_duration(seconds: float) -> str:
    """Return the duration of a step, in two or three digits."""
    digits = 3 if seconds < 0.1 else 2 if seconds < 1 else 1 if seconds < 100 else 0
    return translate("labels", "{n} s per step").format(n=short_number(seconds, digits))


def checkpoint_label(entry: ListedCheckpoint) -> str:
    """Return the display name of a checkpoint in the list."""
    return translate("labels", "Safelight starter") if entry.name == STARTER_NAME else entry.name


def checkpoint_summary(info: CheckpointInfo, family: str, hashed: int | None = None) -> str:
    """Return a one-line description of a checkpoint; `family` is the title of its family.

    `hashed` is the progress in percent while the hash is being computed. The hash has ten digits,
    as in A1111 and on Civitai.
    """
    parts = [family]
    if info.variant and info.variant != "base":
        parts.append(variant_label(info.variant))
    if info.prediction != PredictionType.EPSILON.value:
        parts.append(_prediction(PredictionType(info.prediction)))
    precisions = sorted({name for part in info.components for name in part.precisions})
    parts.append("/".join(precisions))
    parts.append(file_size(sum(part.bytes for part in info.components)))
    parts.append(size_label(info.default_size, info.default_size))
    if info.sha256 is not None:
        parts.append(translate("labels", "hash {digits}").format(digits=info.sha256[:10]))
    elif hashed is not None:
        parts.append(translate("labels", "hash at {n} %").format(n=hashed))
    return " · ".join(part for part in parts if part)


def variant_label(variant: str) -> str:
    """Return the variant of a checkpoint within its family; empty for the usual one."""
    words = {"base": "", "inpainting": translate("labels", "inpainting")}
    return " ".join(filter(None, (words.get(word, word) for word in variant.split(" "))))


def _prediction(prediction: PredictionType) -> str:
    return {
        PredictionType.EPSILON: translate("labels", "noise prediction"),
        PredictionType.V: translate("labels", "v-prediction"),
        PredictionType.SAMPLE: translate("labels", "prediction of the picture"),
        PredictionType.EDM: "EDM",
        PredictionType.EDM_V: translate("labels", "EDM with v-prediction"),
        PredictionType.FLOW: translate("labels", "flow matching"),
    }[prediction]


def file_size(size: int) -> str:
    """Return a number of bytes with a decimal unit (kB, MB, GB)."""
    fmt = QLocale.DataSizeFormat.DataSizeSIFormat
    return QLocale().formattedDataSize(size, 1 if size > 999_999_999 else 0, fmt)


def amount_label(done: int, total: int) -> str:
    """Return an amount of bytes out of all."""
    text = translate("labels", "{done} of {total}")
    return text.format(done=file_size(done), total=file_size(total))


def transfer_label(done: int, total: int, bytes_per_second: float) -> str:
    """Return a line on bytes that arrive: how many, how fast, how long the others take.

    A speed of 0 is an unknown one.
    """
    parts = [translate("labels", "Downloading"), amount_label(done, total)]
    if bytes_per_second > 0:
        speed = file_size(round(bytes_per_second))
        parts.append(translate("labels", "{size} per second").format(size=speed))
        left = duration(max(total - done, 0) / bytes_per_second)
        parts.append(translate("labels", "{time} left").format(time=left))
    return " · ".join(parts)


def size_label(width: int, height: int) -> str:
    """Return width and height in pixels, in this order also in right-to-left text."""
    # A neutral sign between numbers would take the direction of the text around it.
    size = f"{width} × {height}"  # noqa: RUF001 (the multiplication sign is what is meant)
    return f"\N{LEFT-TO-RIGHT ISOLATE}{size}\N{POP DIRECTIONAL ISOLATE}"


def megapixels_label(width: int, height: int) -> str:
    """Return the number of pixels of a picture in millions."""
    return translate("labels", "{n} MP").format(n=short_number(width * height / 1e6, 2))


def no_layers_words(features: Features) -> str:
    """Return which pictures to follow a checkpoint cannot take, and what can; empty if it can."""
    controls, prompts = (
        option in features.options
        for option in (OptionalSetting.CONTROLS, OptionalSetting.IMAGE_PROMPTS)
    )
    if (controls and prompts) or features.reference_pictures:
        return ""
    if controls:
        text = translate(
            "labels",
            "There are no IP-Adapters for this model: for image prompts choose one of Stable "
            "Diffusion 1.5 or SDXL.",
        )
    else:
        text = translate(
            "labels",
            "This model follows no other pictures: for control layers and image prompts choose one "
            "of Stable Diffusion 1.5 or SDXL.",
        )
    return text


def size_remark(width: int, height: int, side: int, longest_side: int | None = None) -> str:
    """Return a warning for a size far from the checkpoint's own `side`, empty for a good size.

    `longest_side` is the longest that it draws well, where that is known.
    """
    own = size_label(side, side)
    match size_fit(width, height, side, longest_side):
        case SizeFit.LARGER:
            text = translate("labels", "Much more than its own {size}: it may draw things twice.")
        case SizeFit.BEYOND:
            text = translate("labels", "Sides over {n} make it draw things twice or out of place.")
            return text.format(n=longest_side)
        case SizeFit.SMALLER:
            text = translate("labels", "Much less than its own {size}: it may draw badly.")
        case SizeFit.LONGER:
            text = translate("labels", "Much longer than wide: it may draw things twice.")
        case SizeFit.GOOD:
            return ""
    return text.format(size=own)


def side_remark(typed: int, taken: int, step: int) -> str:
    """Return the reason why a side, in pixels, differs from the typed one."""
    if typed < MIN_SIDE:
        text = translate("labels", "{typed} became {taken}: no side may be smaller.")
    else:
        text = translate("labels", "{typed} became {taken}: sides are multiples of {step}.")
    return text.format(typed=typed, taken=taken, step=step)


def settings_summary(request: GenerateRequest, model: str = "") -> str:
    """Return the settings of a picture in one line, the name of its model first."""
    parts = [model] if model else []
    if request.width and request.height:
        parts.append(size_label(request.width, request.height))
    if request.seed is not None:
        parts.append(translate("labels", "seed {n}").format(n=request.seed))
    if request.steps:
        parts.append(steps_label(request.steps))
    if request.sampler:
        parts.append(request.sampler.label)
    if request.guidance is not None:
        parts.append(
            translate("labels", "guidance {n}").format(n=short_number(request.guidance, 1))
        )
    return " · ".join(parts)


def files_label(count: int) -> str:
    """Return a number of files."""
    if count == 1:
        return translate("models", "1 file")
    return translate("models", "{n} files").format(n=QLocale().toString(count))


def steps_label(steps: int) -> str:
    """Return a number of steps."""
    if steps == 1:
        return translate("labels", "1 step")
    return translate("labels", "{n} steps").format(n=QLocale().toString(steps))


def token_count(check: PromptCheck) -> str:
    """Return a text with the number of a prompt's tokens and the number that fits.

    Text encoders that get different numbers have one each, the first encoder's first. Empty for a
    short prompt, whose length is no concern.
    """
    is_plain = check.complete and not check.is_cut and not check.encoders
    if check.used < _LONG_PROMPT and is_plain:
        return ""
    if not check.complete:
        text = translate("labels", "more than {n} tokens")
    elif check.drawn:
        text = translate("labels", "about {n} of {room} tokens")
    else:
        text = translate("labels", "{n} of {room} tokens")
    shown = QLocale().toString
    if len({encoder.capacity for encoder in check.encoders}) > 1:
        one_of = translate("labels", "{n} of {room}")
        words = (text, *(one_of for _ in check.encoders[1:]))
        pairs = ((shown(encoder.used), shown(encoder.capacity)) for encoder in check.encoders)
        return " · ".join(
            said.format(n=n, room=room) for said, (n, room) in zip(words, pairs, strict=True)
        )
    used = [encoder.used for encoder in check.encoders] or [check.used]
    return text.format(n=" / ".join(map(shown, used)), room=shown(check.capacity))


def encoder_counts(check: PromptCheck) -> str:
    """Return the number of tokens of each text encoder in lines; one line where all have it."""
    if check.encoders:
        rows = (
            (_ENCODERS.get(encoder.key, encoder.key), encoder.used, encoder.capacity)
            for encoder in check.encoders
        )
    else:
        every = translate("labels", "All text encoders")
        rows = iter([(every, check.used, check.capacity)])
    text, shown = translate("labels", "{encoder}: {n} of {room} tokens"), QLocale().toString
    return "\n".join(
        text.format(encoder=name, n=shown(used), room=shown(room)) for name, used, room in rows
    )


def cut_text(check: PromptCheck) -> str:
    """Return a warning about words without effect, empty if there are none."""
    if not check.is_cut:
        return ""
    if check.cut_words is None:
        return translate("labels", "The end has no effect.")
    if check.cut_words == 1:
        return translate("labels", "The last word has no effect.")
    text = translate("labels", "The last {n} words have no effect.")
    return text.format(n=QLocale().toString(check.cut_words))


def hint_text(hint: Hint) -> str:
    """Return a sentence about a hint; its place is underlined in the prompt."""
    sign = worded(hint.subject)
    if hint.kind in (HintKind.REFUSED, HintKind.EMBEDDING):
        return sign
    sign = sign[:60]
    match hint.kind:
        case HintKind.UNPAIRED:
            closes = sign in tuple(")]}>")
            text = (
                translate("labels", "Unmatched “{sign}”")
                if closes
                else translate("labels", "Unclosed “{sign}”")
            )
            return text.format(sign=sign)
        case HintKind.NETWORK:
            return translate("labels", "{sign} has no effect.").format(sign=sign)
        case HintKind.WILDCARD:
            return translate("labels", "No list called “{name}”.").format(name=sign)
        case HintKind.NEAR_NAME:
            return translate("labels", "Did you mean the embedding “{name}”?").format(name=sign)
        case _:
            text = translate("labels", "{sign} is no wildcard here; it is drawn as words.")
            return text.format(sign=sign)


def unknown_text(words: Sequence[UnknownWord]) -> str:
    """Return a sentence on the words that the starter does not know, empty if there are none."""
    different = list(dict.fromkeys(word.word.casefold() for word in words))
    if not different:
        return ""
    named = ", ".join(word[:_LONGEST_WORD] for word in different[:_MOST_WORDS])
    if len(different) > _MOST_WORDS:
        text = translate("labels", "The starter does not know: {words} and {n} more.")
        return text.format(words=named, n=len(different) - _MOST_WORDS)
    return translate("labels", "The starter does not know: {words}.").format(words=named)


def gain_words(gain: float | None) -> str:
    """Return the time that "Faster guidance" saves: as measured, else by what it leaves out."""
    if gain is None:
        return translate("labels", "about a quarter less time")
    percent = QLocale().toString(round(100 * gain))
    if gain < 0.01:
        return translate("labels", "no gain, as measured here")
    return translate("labels", "{n} % less time, as measured here").format(n=percent)


def when(modified_ns: int) -> str:
    """Return a date and time in the format of the user's system."""
    moment = QDateTime.fromMSecsSinceEpoch(modified_ns // 1_000_000)
    return QLocale().toString(moment, QLocale.FormatType.ShortFormat)


def short_number(value: float, digits: int) -> str:
    text = QLocale().toString(float(value), "f", digits)
    point = QLocale().decimalPoint()
    return text.rstrip("0").removesuffix(point) if point in text else text
