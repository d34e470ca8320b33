"""The verdict over a run of the monkey: its findings, and how the application grew."""

import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.monkey.records import (
    ACTIONS,
    FIGURES,
    FINDINGS,
    Action,
    Figures,
    Finding,
    read_records,
)

GROWTH_MB = 50.0
MORE_HANDLES = 30
MORE_THREADS = 12
# So many of the first and of the last rests are compared.
_RESTS = 3
_ACTIONS_BEFORE = 8
_KINDS = 6


# So long after the engine was killed, the application complains of that.
_COMPLAINS_S = 30.0


# The answers to files that the monkey takes away, and of Qt to those that it cuts.
_EXPECTED = ("engine: engine.server.job_run: a job failed: ", "qt: qt.gui.imageio.")
# Qt's words for a drop where nothing takes it: the hand let go before the answer to its last motion
# was there (`QWidgetWindow::handleDropEvent`).
_NOWHERE = " : No drag target set."


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """The change of a window's size between its first rests, after it is warm, and its last."""

    minutes: float
    first_mb: float
    resident_mb: float
    handles: int
    threads: int
    widgets: int
    objects: int
    images_mb: float
    heap_mb: float
    heap_free_mb: float
    blocks: int
    # Of the types whose numbers grew most, by how many.
    kinds: dict[str, int]
    highest_mb: float

    @property
    def is_too_much(self) -> bool:
        """True where it is more than what is allowed."""
        return (
            self.resident_mb > GROWTH_MB
            or self.handles > MORE_HANDLES
            or self.threads > MORE_THREADS
        )


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """All that is to be said about a run."""

    seed: int
    minutes: float
    actions: int
    engine_kills: int
    # Of each window that was open: after a crash there is another.
    growths: tuple[Growth, ...]
    findings: tuple[Finding, ...]
    folder: str

    @property
    def is_good(self) -> bool:
        """True if nothing was found and nothing grew."""
        return not self.findings and not any(growth.is_too_much for growth in self.growths)

    def kinds(self) -> Counter[str]:
        """Return the number of findings of each kind."""
        return Counter(finding.kind for finding in self.findings)


def growth(figures: Sequence[Figures], warm_s: float) -> Growth | None:
    """Return how a window grew; None where it did not rest often enough after it was warm."""
    if not figures:
        return None
    warm = [figure for figure in figures if figure.rests and figure.at >= figures[0].at + warm_s]
    if len(warm) < 2:
        return None
    count = min(_RESTS, len(warm) // 2)
    first, last = warm[:count], warm[-count:]

    def grown(name: str) -> float:
        before, after = ([getattr(figure, name) for figure in part] for part in (first, last))
        return statistics.median(after) - statistics.median(before)

    return Growth(
        minutes=(last[-1].at - first[0].at) / 60,
        first_mb=statistics.median(figure.resident_mb for figure in first),
        resident_mb=grown("resident_mb"),
        handles=round(grown("handles")),
        threads=round(grown("threads")),
        widgets=round(grown("widgets")),
        objects=round(grown("objects")),
        images_mb=grown("images_mb"),
        heap_mb=grown("heap_mb"),
        heap_free_mb=grown("heap_free_mb"),
        blocks=round(grown("blocks")),
        kinds=_grown_kinds(first[-1], last[-1]),
        highest_mb=max(figure.resident_mb for figure in figures),
    )


def _grown_kinds(first: Figures, last: Figures) -> dict[str, int]:
    grown = Counter(last.kinds)
    grown.subtract(first.kinds)
    return {kind: count for kind, count in grown.most_common(_KINDS) if count > 0}


def findings_in(folder: Path) -> tuple[Finding, ...]:
    """Return the findings of a run, without complaints of an engine that the monkey killed."""
    actions = read_records(folder / ACTIONS, Action)
    kills = [action.at for action in actions if action.name == "kill"]

    def is_expected(finding: Finding) -> bool:
        after = any(0 <= finding.at - kill < _COMPLAINS_S for kill in kills)
        is_told = finding.text.startswith(_EXPECTED) or finding.text.endswith(_NOWHERE)
        is_of_kill = after and finding.text.startswith("app.engine.")
        return finding.kind == "warning" and (is_told or is_of_kill)

    found = read_records(folder / FINDINGS, Finding)
    return tuple(finding for finding in found if not is_expected(finding))


def windows_in(folder: Path, starts: Sequence[float]) -> list[list[Figures]]:
    """Return the figures of each window, by the times at which they were started."""
    every = read_records(folder / FIGURES, Figures)
    ends = [*starts[1:], float("inf")]
    return [
        [figure for figure in every if start <= figure.at < end]
        for start, end in zip(starts, ends, strict=True)
    ]


def report(verdict: Verdict) -> str:
    """Return a verdict as lines to read."""
    lines = [
        f"seed {verdict.seed}: {verdict.minutes:.1f} minutes, {verdict.actions} actions,"
        f" {verdict.engine_kills} engines killed, in {verdict.folder}"
    ]
    lines += (
        f"  grew from {growth.first_mb:.0f} MB by {growth.resident_mb:+.1f} MB in"
        f" {growth.minutes:.1f} minutes (at most {growth.highest_mb:.0f} MB); handles"
        f" {growth.handles:+}, threads {growth.threads:+}, widgets {growth.widgets:+},"
        f" objects {growth.objects:+}, images {growth.images_mb:+.0f} MB, heap"
        f" {growth.heap_mb:+.0f} MB and {growth.heap_free_mb:+.0f} MB free in it, small blocks"
        f" {growth.blocks:+}: {growth.kinds}"
        for growth in verdict.growths
    )
    lines.append(f"  findings: {dict(verdict.kinds()) or 'none'}")
    lines += _worst(verdict)
    return "\n".join(lines)


def _worst(verdict: Verdict) -> list[str]:
    """Return the findings as lines, alike ones together, the most often first."""
    actions = read_records(Path(verdict.folder) / ACTIONS, Action)
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in verdict.findings:
        alike.setdefault((finding.kind, _cause(finding)), []).append(finding)
    lines: list[str] = []
    for (kind, cause), found in sorted(alike.items(), key=lambda item: -len(item[1])):
        worst = max(found, key=lambda finding: finding.ms)
        before = [action for action in actions if action.at <= worst.at][-_ACTIONS_BEFORE:]
        lines.append(f"  {len(found)} x {kind}: {cause}")
        lines.append(f"      at most {worst.ms:.0f} ms; {worst.text[-4000:]}")
        lines += [f"      {line}" for line in worst.stack]
        lines.append(
            "      before: " + "; ".join(f"{action.name} {action.text}" for action in before)
        )
    return lines


def _cause(finding: Finding) -> str:
    """Return the place in the code, or the words, by which findings are alike."""
    if finding.kind not in ("stall", "held_up"):
        return finding.text[:80]
    ends = [
        finding.stack[number - 1]
        for number, line in enumerate([*finding.stack, "--"])
        if line == "--" and number
    ]
    return Counter(ends).most_common(1)[0][0] if ends else finding.text[:80]
