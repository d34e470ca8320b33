"""Two processes that want the same artifact: one compiles it, the other waits and uses it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

from tests.compile.compiling import Bench
from tests.thinned import thinned

ROOT = Path(__file__).parents[2]


class Contestant:
    """A process that loads the bench's network."""

    def __init__(self, bench: Bench) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.compile.contestant", str(bench.folder)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | bench.compiling.as_environment(),
        )

    def line(self) -> str:
        """The next line of the process; empty when it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.change(interruptible=False, gate=str(tmp_path / "gate"))
    return bench


@pytest.fixture
def contestants(bench: Bench) -> Iterator[list[Contestant]]:
    both: list[Contestant] = []
    yield both
    for contestant in both:
        contestant.end()


def test_the_second_waits_for_the_first(bench: Bench, contestants: list[Contestant]) -> None:
    contestants += [Contestant(bench), Contestant(bench)]
    first, second = contestants
    assert first.line() == second.line() == "begun"
    _wait_for_compiles(bench, 1)
    # Whoever is second says so; both are there, and the gate is closed.
    waiting = second if _is_compiling(first) else first
    assert waiting.line() == "waiting"
    Path(bench.compiling.gate).touch()
    numbers = {first.line(), second.line()}
    assert len(numbers) == 1
    assert float(numbers.pop())
    assert [contestant.process.wait() for contestant in contestants] == [0, 0]
    assert bench.compiles == 1
    assert len(bench.artifacts()) == 1
    assert bench.left() == set()


@pytest.mark.parametrize("interruptible", thinned([True, False], [False]))
def test_one_that_was_killed_blocks_nobody(
    bench: Bench, contestants: list[Contestant], interruptible: bool
) -> None:
    bench.change(interruptible=interruptible)
    contestants.append(Contestant(bench))
    _wait_for_compiles(bench, 1)
    contestants[0].end()
    assert bench.artifacts() == []
    assert any(name.endswith(".part") for name in bench.left())
    Path(bench.compiling.gate).touch()
    contestants.append(Contestant(bench))
    assert contestants[1].line() == "begun"
    assert float(contestants[1].line())
    assert bench.compiles == 2
    assert len(bench.artifacts()) == 1
    assert bench.left() == set()


def _wait_for_compiles(bench: Bench, count: int) -> None:
    while bench.compiles < count:
        sleep(0.01)


def _is_compiling(contestant: Contestant) -> bool:
    """Return True if the process has a child, which compiles."""
    command = ["ps", "--no-headers", "--ppid", str(contestant.process.pid)]
    return bool(subprocess.run(command, capture_output=True, text=True).stdout.strip())
