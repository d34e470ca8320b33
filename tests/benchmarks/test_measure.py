"""The measuring itself: what it sees from outside, in which order it measures, how it judges."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measure import PrivateMemoryPeak, Series, interleave, private_bytes
from benchmarks.report import Findings, Table, Target, markdown, targets_table, write_json
from benchmarks.sections.parity import psnr, relative_error

MEGABYTE = 1 << 20
# Holds 100 MB for a moment, and lets go of it before it says so.
ALLOCATES = """
import time
held = b"x" * (100 << 20)
time.sleep(0.2)
del held
print("freed", flush=True)
time.sleep(60)
"""


def test_the_sampler_sees_memory_that_another_process_has_freed() -> None:
    process = subprocess.Popen([sys.executable, "-c", ALLOCATES], stdout=subprocess.PIPE)
    with process, PrivateMemoryPeak(process.pid) as memory:
        assert process.stdout
        process.stdout.readline()
        now = private_bytes(process.pid)
        process.kill()
    assert now is not None
    assert now + 90 * MEGABYTE < memory.peak_bytes < now + 120 * MEGABYTE


def test_the_sampler_ends_with_the_process() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    with PrivateMemoryPeak(process.pid):
        process.wait()
    assert private_bytes(process.pid) is None


def test_contestants_take_turns() -> None:
    order: list[str] = []

    def contestant(name: str) -> float:
        order.append(name)
        return float(len(order))

    contestants = {name: lambda name=name: contestant(name) for name in "ABC"}
    told: list[str] = []
    series = interleave(contestants, 2, lambda name, value: told.append(f"{name}{value:.0f}"))
    assert "".join(order) == "ABCABC"
    assert told == ["A1", "B2", "C3", "A4", "B5", "C6"]
    assert series["B"].values == [2.0, 5.0]


def test_a_ratio_is_of_pairs_so_that_a_slow_spell_cancels_out() -> None:
    ours, theirs = Series([1.0, 1.0, 10.0, 10.0]), Series([2.0, 2.0, 20.0, 20.0])
    assert ours.ratio_to(theirs) == 0.5
    assert ours.median == 5.5
    assert ours.spread == (1.0, 10.0)


def test_a_ratio_of_unpaired_series_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Series([1.0, 2.0]).ratio_to(Series([1.0]))


def test_a_table_is_markdown_with_numbers_to_the_right() -> None:
    table = Table("Speed", ("", "s", "ratio"), (("ours", 1.234, "-"), ("theirs", 12.0, 0.1)), "N.")
    assert markdown(table).splitlines() == [
        "### Speed",
        "",
        "|        |     s | ratio |",
        "| ------ | ----: | ----: |",
        "| ours   |  1.23 |     - |",
        "| theirs | 12.00 |  0.10 |",
        "",
        "N.",
    ]


def test_targets_are_reached_missed_or_not_measured() -> None:
    targets = (
        Target("start", 3.5, 4.0, "s"),
        Target("error", 2e-5, 1e-5, ""),
        Target("likeness", 51.0, 50.0, "dB", at_least=True),
        Target("peer", None, 0.1, "", reason="not installed"),
    )
    assert targets_table(targets).rows == (
        ("start", "at most 4.00 s", "3.50 s", "yes"),
        ("error", "at most 1.0e-05", "2.0e-05", "NO"),
        ("likeness", "at least 50.00 dB", "51.00 dB", "yes"),
        ("peer", "at most 0.10", "not installed", "-"),
    )


def test_the_json_holds_every_number_unrounded(tmp_path: Path) -> None:
    findings = Findings((Table("T", ("s",), ((1 / 3,),)),), (Target("t", 1 / 3, 1.0, "s"),))
    write_json(tmp_path / "found.json", {"cores": 2}, {"step": findings})
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["machine"] == {"cores": 2}
    assert found["sections"]["step"]["tables"][0]["rows"] == [[1 / 3]]
    assert found["sections"]["step"]["targets"][0]["reached"] is True


def test_psnr_and_relative_error_have_known_values() -> None:
    reference = np.full((4, 4), 100, np.uint8)
    assert psnr(reference, reference) == 99.0
    assert psnr(reference + np.uint8(1), reference) == pytest.approx(48.13, abs=0.01)
    assert relative_error(np.array([3.0, 4.1]), np.array([3.0, 4.0])) == pytest.approx(0.02)
    assert relative_error(np.zeros(2), np.ones(3)) == float("inf")
