"""Peaks of private memory beside those that were predicted."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report import Cell, Findings, Table, Target

# The largest allowed error of a prediction, as a part of the peak.
_MOST_MISS = 0.15


@dataclass(frozen=True, slots=True)
class MeasuredPeak:
    """A peak and the predicted one in GB; `labels` are the first cells of its row."""

    labels: tuple[Cell, ...]
    peak: float
    predicted: float

    @property
    def target(self) -> Target:
        """The error that a prediction must stay below."""
        what = ", ".join(map(str, self.labels))
        miss = abs(self.predicted / self.peak - 1)
        return Target(f"{what}: memory missed by", miss, _MOST_MISS, "")


def beside_predictions(
    title: str, labels: Sequence[str], peaks: Sequence[MeasuredPeak], note: str
) -> Findings:
    """Return the table of peaks, whose first columns are called `labels`, and its targets."""
    columns = (*labels, "private peak GB", "predicted GB", "predicted / peak")
    rows = tuple(
        (*peak.labels, peak.peak, peak.predicted, peak.predicted / peak.peak) for peak in peaks
    )
    return Findings((Table(title, columns, rows, note),), tuple(peak.target for peak in peaks))
