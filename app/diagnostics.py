"""Facts about this Safelight for a report, without what is private to its user.

Left out are the names of the home folder and of the user, every prompt, and the words of prompts in
the names of pictures.
"""

import locale
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec
from PySide6.QtCore import qVersion

from app.redaction import private_texts, redacted
from app.session import Session
from app.settings.values import USUAL, stated

_PACKAGES = ("onnxruntime", "openvino", "numpy", "PySide6-Essentials", "pillow")
_LOG_LINES = 150
_LOG_BYTES = 256 << 10


class Diagnostics(msgspec.Struct, frozen=True):
    """The facts of the running program; `logs` is the folder whose end goes with them.

    `private` are texts of the user's that are left out wherever they occur.
    """

    lines: tuple[str, ...]
    logs: Path
    private: tuple[str, ...]

    def text(self) -> str:
        """Return the report; reads the logs, so call it in the background."""
        parts = [*self.lines]
        for name in ("app.log", "engine.log"):
            parts += [f"--- {name}", *_last_lines(self.logs / name)]
        return redacted("\n".join(parts), self.private)


def collect(session: Session, logs: Path) -> Diagnostics:
    """Return the facts of a session as they are now."""
    jobs = session.queue.jobs
    requests = (job.generation for job in jobs)
    form = session.generation
    lines = (
        f"Safelight {version('safelight')}",
        f"{platform.platform()}, Python {platform.python_version()}, Qt {qVersion()}",
        f"Language {locale.getlocale()[0]}, packages: {', '.join(_versions())}",
        f"Engine: {session.engine.state.value}",
        *_devices(session),
        *_settings(session),
        f"Jobs: {len(jobs)}, pictures: {len(session.output_pictures)}",
    )
    return Diagnostics(lines, logs, private_texts(form.prompt, form.negative_prompt, requests))


def _versions() -> list[str]:
    found: list[str] = []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} none")
    return found


def _devices(session: Session) -> list[str]:
    machine = session.devices.machine
    lines: list[str] = []
    if machine is not None:
        memory = machine.memory_total_bytes / 2**30
        lines.append(f"Processor: {machine.processor}, {memory:.0f} GiB")
        lines += [
            f"Adapter: {adapter.name}, {adapter.driver_version}" for adapter in machine.adapters
        ]
    for device in session.devices.devices:
        lines.append(
            f"Device: {device.backend}, {device.name}: {device.unusable or device.verdict}"
        )
    return lines


def _settings(session: Session) -> list[str]:
    now = session.settings.now
    names = (name for name in stated() if getattr(now, name) != getattr(USUAL, name))
    return [f"Setting: {name} = {msgspec.to_builtins(getattr(now, name))!r}" for name in names]


def _last_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_BYTES))
            return file.read(_LOG_BYTES).decode("utf-8", "replace").splitlines()[-_LOG_LINES:]
    except OSError as error:
        return [f"cannot be read: {error.strerror}"]
