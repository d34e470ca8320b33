"""The monkey finds what is planted into the application, and nothing in what it cannot blame."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.monkey import watch
from tests.monkey.disorder import Disorder
from tests.monkey.hand import SHORTCUTS, Hand
from tests.monkey.heap import heap_mb
from tests.monkey.judge import findings_in, growth, report
from tests.monkey.records import (
    ACTIONS,
    FIGURES,
    FINDINGS,
    Action,
    Figures,
    Finding,
    Record,
    read_records,
)
from tests.monkey.run import Monkey
from tests.ui.real_window.display import missing_programs

NEEDS = pytest.mark.skipif(bool(missing_programs()), reason="a real window needs `make display`")


@pytest.mark.slow
@NEEDS
def test_the_monkey_finds_planted_faults(tmp_path: Path) -> None:
    planted = "stall,wait,leak,error,warning,outside,crash"
    verdict = Monkey(
        tmp_path / "run",
        seed=1,
        minutes=4,
        rest_every_s=2,
        warm_s=0,
        planted=planted,
        most_windows=1,
    ).run()
    kinds = verdict.kinds()
    told = report(verdict)
    assert kinds["stall"]
    assert "plants.py" in told
    assert "_stall" in told
    assert kinds["held_up"]
    assert "_wait" in told
    assert kinds["warning"]
    assert "planted warning" in told
    assert kinds["traceback"]
    assert "LookupError('planted')" in told
    assert kinds["left_its_bounds"]
    assert "/planted outside" in told
    assert kinds["crash"] == 1
    assert "in crash" in told
    assert any(found.resident_mb > 20 for found in verdict.growths)
    assert not verdict.is_good


def figures(at: float, **sizes: object) -> Figures:
    usual = {"resident_mb": 200.0, "anonymous_mb": 100.0, "handles": 40, "threads": 12}
    return Figures(at=at, rests=True, **(usual | sizes))  # pyright: ignore[reportArgumentType]


def test_growth_is_between_the_first_and_the_last_rests_of_a_warm_window() -> None:
    cold = [figures(at, resident_mb=100.0) for at in range(0, 300, 60)]
    warm = [figures(at, resident_mb=200.0 + at / 60) for at in range(300, 3900, 60)]
    found = growth([*cold, *warm], warm_s=300)
    assert found is not None
    assert found.resident_mb == 57.0
    assert found.is_too_much
    assert found.minutes == 59.0


def test_growth_names_the_kinds_of_objects_that_grew_most() -> None:
    early = figures(0, kinds={"Job": 20, "QWidget": 900}, images_mb=3.0, blocks=800)
    late = figures(
        60, kinds={"Job": 5020, "QWidget": 890, "QLabel": 30}, images_mb=33.0, blocks=900
    )
    found = growth([early, late], warm_s=0)
    assert found is not None
    assert found.kinds == {"Job": 5000, "QLabel": 30}
    assert found.images_mb == 30.0
    assert found.blocks == 100


def test_the_heap_tells_what_is_in_use() -> None:
    before, _ = heap_mb()
    held = bytearray(64 << 20)
    assert heap_mb()[0] - before >= 64
    del held
    assert heap_mb()[0] - before < 8


@pytest.mark.parametrize("grown", [{"handles": 80}, {"threads": 30}, {"resident_mb": 260.0}])
def test_growth_of_any_kind_is_too_much(grown: dict[str, float]) -> None:
    steady = growth([figures(at) for at in range(10)], warm_s=0)
    assert steady is not None
    assert not steady.is_too_much
    later = [figures(at, **grown) for at in range(10, 20)]
    found = growth([*(figures(at) for at in range(10)), *later], warm_s=0)
    assert found is not None
    assert found.is_too_much


def test_a_window_that_never_rested_when_warm_has_no_growth() -> None:
    assert growth([figures(0), figures(10)], warm_s=300) is None
    assert growth([], warm_s=0) is None


def test_complaints_of_an_engine_are_findings_unless_the_monkey_killed_it(tmp_path: Path) -> None:
    ended = "app.engine.process: The engine was ended by the system."
    with Record(tmp_path / ACTIONS) as actions:
        actions.add(Action(at=100.0, name="kill", text="engine"))
    with Record(tmp_path / FINDINGS) as findings:
        findings.add(Finding(at=50.0, kind="warning", text=ended))
        findings.add(Finding(at=101.0, kind="warning", text=ended))
        findings.add(Finding(at=101.0, kind="warning", text="qt: QPainter::begin"))
        cut = "qt: qt.gui.imageio.jpeg: Corrupt JPEG data: premature end of data segment"
        findings.add(Finding(at=102.0, kind="warning", text=cut))
        nowhere = "qt: default: MainWindow(0x5643aeefb9e0) : No drag target set."
        findings.add(Finding(at=103.0, kind="warning", text=nowhere))
    assert [finding.at for finding in findings_in(tmp_path)] == [50.0, 101.0]


def test_a_record_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    with Record(tmp_path / FINDINGS) as record:
        record.add(Finding(at=1.0, kind="crash", text=""))
    with (tmp_path / FINDINGS).open("ab") as file:
        file.write(b'{"at":2.0,"ki')
    assert len(findings_in(tmp_path)) == 1
    assert not (tmp_path / FIGURES).exists()


def test_a_folder_that_was_taken_away_is_brought_back_with_what_it_had(tmp_path: Path) -> None:
    disorder, choose = Disorder(tmp_path, []), random.Random(1)
    for name in ("output", "models"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").touch()
    told = {disorder.move_folder(choose) for _ in range(40)}
    assert len(told) == 4
    while any((tmp_path / f"{name} away").exists() for name in ("output", "models")):
        disorder.move_folder(choose)
    assert all((tmp_path / name / "mine").exists() for name in ("output", "models"))


def test_shortcuts_are_named_as_the_display_server_names_them() -> None:
    assert {"ctrl+Return", "ctrl+plus", "bracketleft", "Delete", "F11", "ctrl+alt+z"} <= set(
        SHORTCUTS
    )
    assert "ctrl+q" not in SHORTCUTS


class Pretended:
    """A window that answers every question with a place, and takes everything."""

    pid = 0

    def ask(self, _expression: str) -> list[int]:
        return [5, 5]

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_, **__: None


def test_a_visit_to_a_page_goes_on_by_the_mouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def at_once(_: Hand) -> None:
        pass

    monkeypatch.setattr(Hand, "_pause", at_once)
    disorder = Disorder(tmp_path, [tmp_path / "a.png"])
    with Record(tmp_path / ACTIONS) as record:
        pretended: Any = Pretended()
        hand = Hand(pretended, pretended, disorder, record, seed=3)
        for _ in range(1500):
            hand.act()
    actions = read_records(tmp_path / ACTIONS, Action)
    visits = [at for at, action in enumerate(actions[:-12]) if action.name == "visit"]
    assert {actions[at].text for at in visits} == {"models", "settings", "gallery"}
    for at in visits:
        after = {action.name for action in actions[at + 1 : at + 11]}
        assert after <= {"click", "right click", "wheel", "drag"}


def test_a_wait_is_judged_without_the_queue_of_other_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queued = [1.0]
    monkeypatch.setattr(watch, "_queued_others", lambda: queued[0])
    begun = watch._Clock(10.0, 1.0, 0.0)  # pyright: ignore[reportPrivateUsage]
    wait = watch._Wait(begun, begun)  # pyright: ignore[reportPrivateUsage]
    assert wait.until(watch._Clock(10.04, 1.0, 0.0)) == 0  # pyright: ignore[reportPrivateUsage]
    later = watch._Clock(10.2, 1.0, 0.0)  # pyright: ignore[reportPrivateUsage]
    assert wait.until(later) == pytest.approx(200)
    queued[0] = 1.18
    assert wait.until(later) == pytest.approx(20)
    queued[0] = 1.0
    wait.is_told = True
    assert wait.until(later) == 0
