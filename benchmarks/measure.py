"""Measurement in turns, medians, and the private memory of other processes."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

SAMPLING_INTERVAL_S = 0.02


@dataclass(slots=True)
class Series:
    """Repeated measurements of one contestant, in order."""

    values: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        """The middle value. Raises StatisticsError if there is none."""
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return min(self.values), max(self.values)

    def ratio_to(self, other: "Series") -> float:
        """Return the median, over rounds, of this series' value divided by the other's.

        Both values of a pair were measured within seconds of each other, so a temporary slowdown of
        the machine cancels out, which it does not in a ratio of medians.
        """
        pairs = zip(self.values, other.values, strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)


def interleave(
    contestants: Mapping[str, Callable[[], float]],
    rounds: int,
    report: Callable[[str, float], None] | None = None,
) -> dict[str, Series]:
    """Measure each contestant once a round and return the series by name: A B A B, not A A B B.

    `report` gets each name and value as it is measured.
    """
    series = {name: Series() for name in contestants}
    for _ in range(rounds):
        for name, measure in contestants.items():
            value = measure()
            series[name].values.append(value)
            if report:
                report(name, value)
    return series


def private_bytes(pid: int) -> int | None:
    """Return a process' anonymous resident memory (not backed by files); None once it ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    # A zombie has a status without memory.
    lines = (line.split() for line in status.splitlines() if line.startswith("RssAnon:"))
    return next((int(fields[1]) * 1024 for fields in lines), None)


class PrivateMemoryPeak:
    """Samples another process's private memory every 20 ms while the block runs, and at its end.

    The engine has a sampler of its own, which is not used on purpose: the memory table compares the
    two.
    """

    def __init__(self, pid: int, interval_s: float = SAMPLING_INTERVAL_S) -> None:
        self.pid = pid
        self.peak_bytes = 0
        self._interval_s = interval_s
        self._stop = Event()
        self._thread = Thread(target=self._sample, name="private-memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        is_last = False
        while (held := private_bytes(self.pid)) is not None:
            self.peak_bytes = max(self.peak_bytes, held)
            if is_last:  # once more, for what the block leaves
                return
            is_last = self._stop.wait(self._interval_s)
