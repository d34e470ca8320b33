"""Durations that were seen become estimates, and nothing that is damaged becomes one."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backends.registry import BACKENDS
from engine.compile import estimates as rules
from engine.compile.estimates import COMPILE, Estimates, Kind, Work

DENOISE = Kind("denoise", "denoiser", "cpu", "a processor 1.0", "f32")


def work(size: float = 1000.0, kind: Kind = DENOISE) -> Work:
    return Work(kind, size)


def learnt(*pairs: tuple[float, float], kind: Kind = DENOISE) -> Estimates:
    """Estimates that have seen these sizes and seconds."""
    estimates = Estimates(None)
    for size, seconds in pairs:
        estimates.note(work(size, kind), seconds)
    return estimates


def test_nothing_is_expected_of_what_was_never_done() -> None:
    assert Estimates(None).expect(work()) is None


def test_one_slow_run_changes_nothing() -> None:
    """Seconds of SD 1.5 at 512x512 on two cores, once while the machine was busy."""
    estimates = learnt(*((81920.0, seconds) for seconds in (84.1, 82.9, 241.0, 83.3, 85.0)))
    assert estimates.expect(work(81920.0)) == pytest.approx(84.1)


def test_a_lasting_change_is_believed_after_a_few_runs() -> None:
    estimates = learnt(*((1000.0, 10.0) for _ in range(9)))
    seen: list[float | None] = []
    for _ in range(5):
        estimates.note(work(), 4.0)
        seen.append(estimates.expect(work()))
    assert seen[0] == pytest.approx(10)
    assert seen[-1] == pytest.approx(4)


def test_other_sizes_are_in_proportion_to_the_nearest() -> None:
    # Cells of 512x512 and 1024x1024: attention makes the large ones dearer.
    estimates = learnt((4096, 4.0), (16384, 26.0))
    assert estimates.expect(work(4096)) == pytest.approx(4)
    assert estimates.expect(work(5120)) == pytest.approx(5)
    assert estimates.expect(work(13824)) == pytest.approx(26 * 13824 / 16384)


def test_repeated_work_takes_its_multiple_of_the_time() -> None:
    estimates = Estimates(None)
    estimates.note(Work(DENOISE, 4096, times=20), 80.0)
    assert estimates.expect(Work(DENOISE, 4096, times=50)) == pytest.approx(200)
    assert estimates.expect(Work(DENOISE, 8192, times=1)) == pytest.approx(8)


@pytest.mark.parametrize("field", ["activity", "network", "backend", "device"])
def test_work_on_another_device_gives_no_estimate(field: str) -> None:
    estimates = learnt((1000.0, 10.0))
    other = Kind(**{**{f: getattr(DENOISE, f) for f in DENOISE.__struct_fields__}, field: "other"})
    assert estimates.expect(work(kind=other)) is None


def test_another_precision_is_better_than_nothing_and_worse_than_its_own() -> None:
    estimates = learnt((1000.0, 10.0))
    half = Kind("denoise", "denoiser", "cpu", "a processor 1.0", "bf16")
    assert estimates.expect(work(kind=half)) == pytest.approx(10)
    estimates.note(work(kind=half), 4.0)
    assert estimates.expect(work(kind=half)) == pytest.approx(4)
    assert estimates.expect(work()) == pytest.approx(10)


def test_a_first_compile_is_expected_by_the_backend() -> None:
    estimates = Estimates(None)
    first = Kind(COMPILE, "denoiser", "nvidia_tensorrt", "RTX 4070", "f16")
    # The denoiser of SD 1.x takes minutes, its VAE a part of one.
    assert estimates.expect(Work(first, 1.7e9)) == pytest.approx(360)
    assert estimates.expect(Work(first, 0.17e9)) == pytest.approx(36)
    assert estimates.expect(Work(Kind("load", "denoiser", "nvidia_tensorrt"), 1.7e9)) is None
    assert estimates.expect(Work(Kind(COMPILE, "denoiser", "unheard"), 1.7e9)) is None
    estimates.note(Work(first, 1.7e9), 40.0)
    assert estimates.expect(Work(first, 1.7e9)) == pytest.approx(40)


def test_only_backends_there_are_have_a_guess() -> None:
    assert {*rules.FIRST_COMPILE_S_PER_GB} <= {reference.name for reference in BACKENDS}


def test_estimates_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "durations.json"
    first = Estimates(path)
    first.note(work(), 10.0)
    assert Estimates(path).expect(work()) is None
    first.save()
    assert Estimates(path).expect(work()) == pytest.approx(10)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_two_processes_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    estimates, other = Estimates(path), Estimates(path)
    estimates.note(work(), 10.0)
    other.note(work(kind=Kind("decode")), 3.0)
    estimates.save()
    other.save()
    both = Estimates(path)
    assert both.expect(work()) == pytest.approx(10)
    assert both.expect(work(kind=Kind("decode"))) == pytest.approx(3)
    # And what the other one learnt is known here, too.
    assert other.expect(work()) == pytest.approx(10)


GOOD = b'{"version":1,"series":[{"kind":{"activity":"a"},"samples":[[1,2]]}]}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        GOOD[:-9],
        GOOD.replace(b":1,", b":2,"),
        GOOD.replace(b"[[1,2]]", b"[]"),
        GOOD.replace(b"[[1,2]]", b"[[0,2]]"),
        GOOD.replace(b"[[1,2]]", b"[[1,-2]]"),
        GOOD.replace(b"[[1,2]]", b"[[1e300,2]]"),
    ],
)
def test_a_damaged_file_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "durations.json"
    path.write_bytes(GOOD)
    assert Estimates(path).expect(Work(Kind("a"), 1.0)) == pytest.approx(2)
    path.write_bytes(content)
    estimates = Estimates(path)
    assert estimates.expect(Work(Kind("a"), 1.0)) is None
    estimates.note(work(), 10.0)
    estimates.save()
    assert Estimates(path).expect(work()) == pytest.approx(10)


def test_without_a_place_to_write_this_process_still_knows(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    estimates = Estimates(tmp_path / "file" / "durations.json")
    estimates.note(work(), 10.0)
    estimates.save()
    assert estimates.expect(work()) == pytest.approx(10)


def test_the_file_does_not_grow_without_end(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    estimates = Estimates(path)
    for number in range(2 * rules._MOST_KINDS):  # pyright: ignore[reportPrivateUsage]
        for _ in range(30):
            estimates.note(work(kind=Kind("denoise", device=f"device {number}")), 1.0)
    estimates.save()
    assert path.stat().st_size < 1 << 18
    again = Estimates(path)
    assert again.expect(work(kind=Kind("denoise", device="device 0"))) is None
    newest = Kind("denoise", device=f"device {2 * rules._MOST_KINDS - 1}")  # pyright: ignore[reportPrivateUsage]
    assert again.expect(work(kind=newest)) == pytest.approx(1)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
def test_impossible_durations_are_not_learnt(seconds: float) -> None:
    assert learnt((1000.0, seconds)).expect(work()) is None
    assert learnt((0.0, 1.0)).expect(work()) is None


def test_threads_may_note_at_once(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    estimates = Estimates(path)

    def learn(number: int) -> None:
        estimates.note(work(kind=Kind("denoise", device=str(number % 7))), 1.0)
        estimates.save()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(learn, range(60)))
    again = Estimates(path)
    assert all(again.expect(work(kind=Kind("denoise", device=str(n)))) for n in range(7))
