"""Descriptions of devices in the user's language; the engine words the result of a trial."""

import re

from PySide6.QtCore import QCoreApplication, QLocale

from app.engine.speed import SD_1_5, seconds_per_picture
from app.notices.remedies import remedy_words
from app.notices.wording import worded_reason
from engine.api.machine import DeviceInfo
from engine.api.remedies import InstallPack
from engine.api.values import PrecisionName
from ui.labels import duration

translate = QCoreApplication.translate
# What is in the names of devices beside the words that a person knows one by.
_DECORATION = re.compile(r"\((R|TM|C)\)|@.*$|\bCPU\b|\bwith Radeon Graphics\b", re.IGNORECASE)
_MAKERS = frozenset({"nvidia", "geforce", "amd", "intel", "13th", "12th", "11th", "10th", "gen"})


def device_name(device: DeviceInfo) -> str:
    """Return the names of a device's runtime and hardware."""
    runtime = device.title or device.backend
    return f"{runtime} · {device.name}" if device.name else runtime


def short_device_name(device: DeviceInfo) -> str:
    """Return the name of a device's hardware as a person says it: "RTX 4070"."""
    name = _DECORATION.sub(" ", device.name)
    words = [word for word in name.split() if word.lower() not in _MAKERS]
    short = " ".join(words) or device.name or device.title or device.backend
    return short[:1].upper() + short[1:]


def device_times(device: DeviceInfo) -> str:
    """Return the measured time in each precision with correct results."""
    right = [figure for figure in device.figures if not figure.problem]
    return " · ".join(f"{f.precision} {_milliseconds(f.milliseconds)}" for f in right)


def device_pace(device: DeviceInfo) -> str:
    """Return the time of a usual picture on a device, estimated by its trial; empty before it."""
    seconds = seconds_per_picture(device, SD_1_5)
    if seconds is None:
        return ""
    text = translate("devices", "About {time} for a picture with Stable Diffusion 1.5, 512 pixels.")
    told = text.format(time=duration(seconds))
    return f"{told} {busy_remark()}" if device.disturbed else told


def busy_remark() -> str:
    """Return the remark on times that other work of the computer may have made longer."""
    return translate("devices", "This was measured while the computer was busy.")


def device_words(device: DeviceInfo, choice: str) -> str:
    """Return a sentence on why a device is used or not.

    `choice` is the reason for the device in use, empty for all others.
    """
    words = _verdict_words(device, choice)
    if not (device.disturbed and device_times(device)):
        return words
    # A driver's own words may end without a stop.
    return f"{words}{'' if words.endswith('.') else '.'} {busy_remark()}"


def _verdict_words(device: DeviceInfo, choice: str) -> str:
    if choice:
        return translate("devices", "In use: {reason}.").format(reason=worded_reason(choice))
    if device.unusable:
        return with_pack(device.unusable, device.install)
    if device.failure:
        return translate("devices", "Comes last, because a job failed on it: {reason}").format(
            reason=worded_reason(device.failure)
        )
    if not device.automatic:
        return translate("devices", "Works when it is asked for by name.")
    if any(figure.problem for figure in device.figures):
        return _works_only_in([f.precision for f in device.figures if not f.problem])
    if not device.checked:
        return translate("devices", "Not tried yet.")
    return translate("devices", "Works.")


def _works_only_in(precisions: list[str]) -> str:
    if precisions == [PrecisionName.F32.value]:
        return translate("devices", "Works in full precision only.")
    return translate("devices", "Works in {precisions} only.").format(
        precisions=", ".join(precisions)
    )


def with_pack(reason: str, packs: tuple[str, ...]) -> str:
    """Return why a device cannot be used, and the best of the packs that would make it usable."""
    worded = worded_reason(reason)
    sentence = f"{worded[:1].upper()}{worded[1:]}"
    if not packs:
        return sentence
    return f"{sentence}. {remedy_words(InstallPack(pack=packs[0]))}"


def _milliseconds(value: float) -> str:
    digits = 0 if value >= 100 else 1
    return translate("devices", "{n} ms").format(n=QLocale().toString(value, "f", digits))
