"""What the command line writes: errors, tables, a progress bar, and JSON."""

import os
import shutil
import sys
from collections.abc import Sequence
from time import perf_counter

import msgspec

from engine.api.values import ErrorInfo, Phase
from engine.jobs.runner import SilentReporter
from engine.jobs.saving import SavedImage

_PHASE_LABELS = {
    Phase.LOAD: "Reading the checkpoint",
    Phase.COMPILE: "Preparing",
    Phase.ENCODE: "Reading the prompt",
    Phase.DENOISE: "Developing",
    Phase.DECODE: "Finishing",
    Phase.SAVE: "Saving",
}
_BAR_WIDTH = 24


class Usage(Exception):  # noqa: N818 (named for what it reports)
    """The arguments do not make sense together; exit status 2."""


def print_error(error: ErrorInfo) -> None:
    """One line of what happened and what to do; the technical detail where asked for."""
    print(" ".join(filter(None, (f"safelight: {error.message}", error.hint))), file=sys.stderr)
    if error.detail and os.environ.get("SAFELIGHT_DEBUG"):
        print(error.detail, file=sys.stderr)


def print_note(sentence: str) -> None:
    """Something worth knowing that is no failure."""
    print(f"safelight: {sentence}", file=sys.stderr)


def print_json(value: object) -> None:
    """One JSON object on stdout."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell."""
    table = [headings, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(headings))]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


class StatusLine:
    """The last line of a terminal, drawn again and again; nothing where stderr is none."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._shown = ""

    def draw(self, text: str) -> None:
        """Show a text, as far as it fits, in the place of the one before."""
        if self._is_terminal and text != self._shown:
            self._shown = text
            columns = shutil.get_terminal_size().columns
            print(f"\r\x1b[2K{text[: columns - 1]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove it, so that ordinary output can follow."""
        self.draw("")


def bar(fraction: float) -> str:
    """A bar that is full at 1."""
    filled = int(_BAR_WIDTH * fraction)
    return "█" * filled + "░" * (_BAR_WIDTH - filled)


class ByteBar:
    """How much of so many bytes is done."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total = label, max(1, total)
        self._line = StatusLine()

    def show(self, done: int) -> None:
        """Draw the bar."""
        fraction = done / self._total
        self._line.draw(f"{self._label} {bar(fraction)} {int(100 * fraction)} %")

    def clear(self) -> None:
        """Remove it."""
        self._line.clear()


class TerminalReporter(SilentReporter):
    """Shows a job's progress on a terminal; where there is none, only warnings."""

    def __init__(self, *, announce: bool) -> None:
        """`announce` prints the path of each picture on stdout."""
        self._announce = announce
        self._shows_bar = sys.stderr.isatty()
        self._label = self._shown = ""
        self._phase_started = perf_counter()

    def phase(self, phase: Phase) -> None:
        """Name the phase that begins."""
        self._label = _PHASE_LABELS[phase]
        self._phase_started = perf_counter()
        self._draw(self._label)

    def progress(self, done: int, total: int) -> None:
        """Draw the bar, with the pace and the time left."""
        if not total:
            return
        filled = _BAR_WIDTH * done // total
        bar = "█" * filled + "░" * (_BAR_WIDTH - filled)
        pace = ""
        if done and self._label == _PHASE_LABELS[Phase.DENOISE]:
            each = (perf_counter() - self._phase_started) / done
            pace = f" {done}/{total}  {each:.2f} s/step  {each * (total - done):.0f} s left"
        self._draw(f"{self._label} {bar}{pace}")

    def image_saved(self, image: SavedImage) -> None:
        """Print where the picture is."""
        self.clear()
        if self._announce:
            print(image.path, flush=True)

    def warning(self, warning: ErrorInfo) -> None:
        """Print what failed and was worked around."""
        self.clear()
        print_error(warning)

    def clear(self) -> None:
        """Remove the bar, so that ordinary output can follow."""
        self._draw("")

    def _draw(self, text: str) -> None:
        if self._shows_bar and text != self._shown:
            self._shown = text
            columns = shutil.get_terminal_size().columns
            print(f"\r\x1b[2K{text[: columns - 1]}", end="", file=sys.stderr, flush=True)
