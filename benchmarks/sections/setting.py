"""The options that all sections share, and their common helpers."""

import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks import checkpoints, command
from benchmarks.checkpoints import Checkpoints
from benchmarks.command import CommandRun
from benchmarks.measure import Series
from benchmarks.report import Cell
from benchmarks.workload import GUIDANCE, NEGATIVE, PROMPT, SEED, SIZE, STEPS

_VERDICTS = "devices.json"


@dataclass(frozen=True)
class Setting:
    """Paths, the number of repetitions, and the receiver of progress messages."""

    folder: Path
    # The interpreter of the app's environment.
    python: Path
    quick: bool
    # Replaces the shipped model; None for the shipped one.
    starter: Path | None
    # An installed tree; None if no section is to start one.
    tree: Path | None
    say: Callable[[str], None]

    @cached_property
    def files(self) -> Checkpoints:
        """The full-size checkpoints, made on first use."""
        return checkpoints.prepare(self.folder, self.say)

    @property
    def steps(self) -> int:
        """The number of steps of a whole picture."""
        return 4 if self.quick else STEPS

    def rounds(self, usual: int) -> int:
        """Return the number of repetitions, given the usual one."""
        return min(2, usual) if self.quick else usual

    def report(self, name: str, value: float) -> None:
        """Report one measurement, in seconds."""
        self.say(f"  {name}: {value:.2f} s")

    @cached_property
    def verdicts(self) -> bytes:
        """The app's verdicts on this machine's devices, determined once for all sections."""
        with tempfile.TemporaryDirectory() as cache:
            command.check_devices(self.python, Path(cache))
            return (Path(cache) / _VERDICTS).read_bytes()

    @contextmanager
    def empty_cache(self) -> Generator[Path]:
        """Make a cache folder with only the verdicts, on the disk that holds the checkpoints."""
        self.folder.mkdir(parents=True, exist_ok=True)
        cache = Path(tempfile.mkdtemp(prefix="cache-", dir=self.folder))
        (cache / _VERDICTS).write_bytes(self.verdicts)
        try:
            yield cache
        finally:
            shutil.rmtree(cache, ignore_errors=True)

    def generate(self, cache: Path, model: Path, *arguments: str, steps: int) -> CommandRun:
        """Run `safelight generate` with the common prompt and seed, in a new process."""
        with tempfile.TemporaryDirectory() as out:
            return command.generate(
                self.python,
                cache,
                *(PROMPT, "--negative", NEGATIVE, "--model", str(model), "--steps", str(steps)),
                *("--size", f"{SIZE}x{SIZE}", "--seed", str(SEED), "--cfg", str(GUIDANCE)),
                *("--sampler", "euler", "--schedule", "normal", "--convention", "diffusers"),
                *("--out", out),
                *arguments,
            )


def timing_row(name: str, first_s: float, series: Series, ratio: float | None) -> tuple[Cell, ...]:
    """Return a table row: the first run, the median and spread of later ones, and a ratio."""
    least, most = series.spread
    return (name, first_s, series.median, least, most, "-" if ratio is None else ratio)


TIMING_COLUMNS: tuple[str, ...] = ("", "first s", "median s", "least s", "most s")


def first_and_rest(
    series: Mapping[str, Series],
) -> tuple[dict[str, float], dict[str, Series]]:
    """Split off each series' first value, which includes warming up."""
    firsts = {name: times.values[0] for name, times in series.items()}
    return firsts, {name: Series(times.values[1:]) for name, times in series.items()}
