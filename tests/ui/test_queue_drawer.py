"""The drawer of the queue shows every job, and acts on the selected ones by buttons and keys."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import product
from random import Random
from types import FrameType

import pytest
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QRect,
    QStringListModel,
    Qt,
)
from PySide6.QtGui import QAction, QDrag
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.queue.jobs import Job, JobState
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.devices import DEVICES
from tests.ui.test_accessibility import unnamed
from ui.actions import ActionName
from ui.device_labels import device_name
from ui.dock.queue_drawer import QueueDrawer
from ui.item_models import queue_item_model
from ui.item_models.queue_item_model import ROW_ROLE, Index, QueueItemModel, QueueRow

DELETE, LEFT = Qt.Key.Key_Delete, Qt.MouseButton.LeftButton
ALT, NONE = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.NoModifier
PROMPTS = ("one", "two", "three")


@pytest.fixture
def drawer(desk: Desk) -> QueueDrawer:
    """The open drawer of a desk whose engine is not started, with three jobs."""
    submit(desk, PROMPTS)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    assert desk.window.queue.isVisible()
    return desk.window.queue


def submit(desk: Desk, prompts: Sequence[str]) -> None:
    for prompt in prompts:
        desk.session.generation.prompt = prompt
        desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == len(prompts))


def rows(drawer: QueueDrawer) -> list[QueueRow]:
    jobs = drawer.jobs
    return [jobs.index(row).data(ROW_ROLE) for row in range(jobs.rowCount())]


def titles(drawer: QueueDrawer) -> tuple[str, ...]:
    return tuple(row.title for row in rows(drawer))


def select(drawer: QueueDrawer, *which: int) -> None:
    drawer.list.setCurrentIndex(drawer.jobs.index(which[0]))
    for row in which[1:]:
        chosen = QItemSelectionModel.SelectionFlag.Select
        drawer.list.selectionModel().select(drawer.jobs.index(row), chosen)


def test_the_queue_opens_beside_the_picture_and_esc_closes_it(
    desk: Desk, drawer: QueueDrawer
) -> None:
    assert titles(drawer) == PROMPTS
    assert drawer.list.hasFocus()
    assert desk.window.dock.queue.isChecked()
    assert "3 pictures" in drawer.summary.text()
    assert unnamed(desk.window) == []
    QTest.keyClick(drawer.list, Qt.Key.Key_Escape)
    assert not drawer.isVisible()
    assert not desk.window.dock.queue.isChecked()
    # Nothing was cancelled by the key.
    assert all(job.state is JobState.WAITING for job in desk.queue.jobs)
    QTest.mouseClick(desk.window.dock.queue, LEFT)
    assert drawer.isVisible()


def test_pictures_that_were_taken_off_leave_list_and_totals(
    desk: Desk, drawer: QueueDrawer
) -> None:
    select(drawer, 2)
    QTest.keyClick(drawer.list, Qt.Key.Key_Delete)
    desk.wait(lambda: titles(drawer) == ("one", "two"))
    desk.wait(lambda: drawer.summary.text() == "2 pictures to make")


def test_jobs_are_moved_by_keys_and_stay_selected(desk: Desk, drawer: QueueDrawer) -> None:
    select(drawer, 2)
    QTest.keyClick(drawer.list, Qt.Key.Key_Up, ALT)
    desk.wait(lambda: titles(drawer) == ("one", "three", "two"))
    assert [generation_of(job).prompt for job in drawer.list.selected] == ["three"]
    QTest.keyClick(drawer.list, Qt.Key.Key_Home, ALT)
    desk.wait(lambda: titles(drawer) == ("three", "one", "two"))
    QTest.keyClick(drawer.list, Qt.Key.Key_Down, ALT)
    desk.wait(lambda: titles(drawer) == ("one", "three", "two"))


def test_jobs_are_dragged_to_another_place(desk: Desk, drawer: QueueDrawer) -> None:
    jobs = drawer.jobs
    first, second = (job.id for job in desk.queue.jobs[:2])
    drop = Qt.DropAction.MoveAction
    assert jobs.dropMimeData(jobs.dragged([first]), drop, 2, 0, jobs.index(-1)) is False
    desk.wait(lambda: titles(drawer) == ("two", "one", "three"))
    jobs.dropMimeData(jobs.dragged([second]), drop, -1, 0, jobs.index(-1))
    desk.wait(lambda: titles(drawer) == ("one", "three", "two"))


def test_a_drag_of_many_jobs_carries_all_and_asks_for_no_row(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session.generation.count = 3000
    desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == 3000)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    drawer, asked, carried = desk.window.queue, list[int](), list[QMimeData]()
    drawer.list.selectAll()
    flags = QueueItemModel.flags

    def counted(model: QueueItemModel, index: Index) -> Qt.ItemFlag:
        asked.append(index.row())
        return flags(model, index)

    def exec_(drag: QDrag, _actions: Qt.DropAction) -> None:
        carried.append(drag.mimeData())

    monkeypatch.setattr(QueueItemModel, "flags", counted)
    monkeypatch.setattr(QDrag, "exec", exec_)
    drawer.list.startDrag(Qt.DropAction.MoveAction)
    (data,) = carried
    jobs = [job.id for job in desk.queue.jobs]
    assert drawer.jobs.dropMimeData(data, Qt.DropAction.MoveAction, 0, 0, QModelIndex()) is False
    assert data.data(data.formats()[0]).toStdString().split("\n") == jobs
    assert len(asked) < 100


def test_jobs_are_removed_and_put_back(desk: Desk, drawer: QueueDrawer) -> None:
    select(drawer, 0, 2)
    QTest.keyClick(drawer.list, Qt.Key.Key_Delete)
    desk.wait(lambda: titles(drawer) == ("two",))
    undo = desk.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    desk.wait(lambda: titles(drawer) == PROMPTS)


def test_the_job_that_follows_a_removed_one_is_selected(desk: Desk, drawer: QueueDrawer) -> None:
    select(drawer, 1)
    QTest.keyClick(drawer.list, Qt.Key.Key_Delete)
    desk.wait(lambda: titles(drawer) == ("one", "three"))
    assert [generation_of(job).prompt for job in drawer.list.selected] == ["three"]
    QTest.keyClick(drawer.list, Qt.Key.Key_Delete)
    desk.wait(lambda: titles(drawer) == ("one",))
    # The last row is gone; the one before it is near.
    assert [generation_of(job).prompt for job in drawer.list.selected] == ["one"]


def test_a_job_is_edited_and_copied(desk: Desk, drawer: QueueDrawer) -> None:
    select(drawer, 1)
    QTest.mouseClick(drawer.buttons[ActionName.DUPLICATE_JOB], LEFT)
    desk.wait(lambda: titles(drawer) == ("one", "two", "two", "three"))
    select(drawer, 0)
    QTest.mouseClick(drawer.buttons[ActionName.EDIT_JOB], LEFT)
    assert desk.window.form.prompt.toPlainText() == "one"
    desk.wait(lambda: titles(drawer) == ("two", "two", "three"))


def test_the_queue_is_paused_and_the_dock_says_so(desk: Desk, drawer: QueueDrawer) -> None:
    def told() -> str:
        # A window that was just shown is still fitted to the small screen.
        desk.resize(1440, 900)
        return desk.window.dock.queue.text()

    QTest.mouseClick(drawer.pause, LEFT)
    desk.wait(lambda: told() == "Paused · 3")
    assert drawer.pause.text() == "Resume"
    assert "paused" in desk.window.dock.queue.accessibleName()
    QTest.mouseClick(drawer.pause, LEFT)
    desk.wait(lambda: told() == "Queue · 3")


def test_a_failure_says_why_and_is_made_smaller(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(no_room_above=400)).start()
    desk.session.generation.width = desk.session.generation.height = 512
    desk.session.jobs.generate()
    desk.wait_for_jobs(1)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    drawer = desk.window.queue
    (row,) = rows(drawer)
    assert row.remark == "No memory."
    assert "No memory." in drawer.jobs.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    desk.wait(lambda: "1 failed" in desk.window.dock.queue.accessibleName())
    desk.wait(lambda: drawer.summary.text() == "No picture is waiting · 1 failed")
    select(drawer, 0)
    assert "384" in drawer.smaller.text()
    # Once it was cut where the drawer is narrow.
    drawer.resize(320, 400)
    desk.wait(lambda: drawer.smaller.width() >= drawer.smaller.sizeHint().width())
    assert drawer.rect().contains(drawer.smaller.geometry())
    QTest.mouseClick(drawer.smaller, LEFT)
    desk.wait(lambda: rows(drawer)[0].job.state is JobState.DONE)
    assert desk.queue.jobs[0].request.width == 384
    desk.wait(lambda: drawer.summary.text() == "No picture is waiting · 1 finished")
    QTest.mouseClick(drawer.clear_finished, LEFT)
    desk.wait(lambda: rows(drawer) == [])
    assert drawer.empty.isVisible()


def retries(drawer: QueueDrawer) -> dict[str, QAction]:
    actions = drawer.list.make_menu().actions()
    return {action.text(): action for action in actions if action.text().startswith("Retry")}


def test_a_failure_of_the_device_is_tried_on_another(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(no_room_above=400)).start()
    desk.session.generation.width = desk.session.generation.height = 512
    desk.session.jobs.generate()
    desk.wait_for_jobs(1)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    drawer = desk.window.queue
    select(drawer, 0)
    desk.session.devices.devices = DEVICES
    chosen = desk.session.devices.chosen
    assert chosen is not None
    usable = [device for device in DEVICES if not device.unusable and device is not chosen]
    offered = [f"Retry on {device_name(device)}" for device in usable]
    found = retries(drawer)
    assert list(found)[1:] == offered
    assert "Retry with another seed" not in found
    found[offered[0]].trigger()
    desk.wait(lambda: desk.queue.jobs[0].request.backend == usable[0].backend)


def test_only_a_failure_of_the_numbers_is_tried_with_another_seed(make_desk: MakeDesk) -> None:
    empty = ErrorInfo(ErrorCode.NUMERIC_FAILURE, "Nothing but zeros.")
    desk = make_desk(Plan(job_error=empty)).start()
    desk.session.jobs.generate()
    (job,) = desk.wait_for_jobs(1)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    drawer = desk.window.queue
    select(drawer, 0)
    retries(drawer)["Retry with another seed"].trigger()
    desk.wait(lambda: generation_of(desk.queue.jobs[0]).seed != generation_of(job).seed)


def test_a_prompt_takes_the_room_that_no_remark_needs(desk: Desk) -> None:
    submit(desk, ["a red house by the sea at night " * 4])
    drawer = desk.window.queue
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    assert rows(drawer)[0].remark == ""
    image = drawer.list.viewport().grab().toImage()
    row = drawer.list.visualRect(drawer.jobs.index(0))
    # Where the words of a state would stand, clear of the ring around the row.
    end = QRect(row.right() - 60, row.top() + 12, 46, row.height() // 2 - 12)
    ground = image.pixel(row.right() - 14, row.center().y())
    places = product(range(end.left(), end.right()), range(end.top(), end.bottom()))
    assert any(image.pixel(x, y) != ground for x, y in places)


def test_ten_thousand_jobs_are_drawn_row_by_row(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(desk, ["one"])
    desk.session.generation.count = 9999
    desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == 10_000)
    drawer = desk.window.queue
    asked: list[str] = []
    make_row = QueueItemModel._row  # pyright: ignore[reportPrivateUsage]

    def row(model: QueueItemModel, job: Job) -> QueueRow:
        asked.append(job.id)
        return make_row(model, job)

    monkeypatch.setattr(QueueItemModel, "_row", row)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    assert drawer.jobs.rowCount() == 10_000
    drawer.grab()
    assert 0 < len(asked) < 500
    # Qt would look for a job that begins with the letter.
    select(drawer, 0)
    QTest.keyClick(drawer.list, Qt.Key.Key_Z)
    assert len(asked) < 500
    drawer.list.selectAll()
    assert [job.id for job in drawer.list.selected] == [job.id for job in desk.queue.jobs]
    select(drawer, 9999)
    QTest.keyClick(drawer.list, Qt.Key.Key_Home, ALT)
    last = desk.queue.jobs[-1].id
    desk.wait(lambda: rows_first(drawer) == last)


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_storm_of_keys_over_many_jobs_while_they_run_shows_their_order(
    make_desk: MakeDesk, count: int
) -> None:
    """Rows are selected, moved, cancelled and added at random between the engine's pictures."""
    desk = make_desk(Plan(step_seconds=0.05)).start()
    desk.session.generation.count = count
    desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == count)
    desk.session.generation.count = 1
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    drawer, chance = desk.window.queue, Random(29)
    keys = (Qt.Key.Key_Home, ALT), (Qt.Key.Key_Up, ALT), (Qt.Key.Key_Down, ALT), (DELETE, NONE)
    for _ in range(40):
        select(drawer, *chance.sample(range(drawer.jobs.rowCount()), chance.choice((1, 3, 40))))
        QTest.keyClick(drawer.list, *chance.choice(keys))
        if chance.random() < 0.1:
            desk.session.jobs.generate()
        QApplication.processEvents()
    desk.wait(lambda: any(job.state is JobState.DONE for job in desk.queue.jobs))
    desk.queue.pause(paused=True)
    desk.wait(lambda: desk.queue.paused and desk.queue.running is None)
    assert count / 2 < len(ids_of(desk, JobState.WAITING)) < count
    # The list follows the queue a little later.
    desk.wait(
        lambda: (
            drawer.jobs.jobs_in(0, drawer.jobs.rowCount() - 1)
            == [*ids_of(desk, JobState.WAITING), *reversed(ids_of(desk, JobState.DONE))]
        )
    )


def ids_of(desk: Desk, state: JobState) -> list[str]:
    return [job.id for job in desk.queue.jobs if job.state is state]


def test_a_selection_of_many_jobs_stays_with_them_and_qt_keeps_none_of_their_places(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session.generation.count = 3000
    desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == 3000)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    drawer, kept = desk.window.queue, list[int]()
    change = QueueItemModel.changePersistentIndexList

    def counted(model: QueueItemModel, before: Sequence[QModelIndex], after: object) -> None:
        kept.append(len(before))
        change(model, before, after)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(QueueItemModel, "changePersistentIndexList", counted)
    jobs, model = [job.id for job in desk.queue.jobs], drawer.list.selectionModel()
    selection = QItemSelection(drawer.jobs.index(10), drawer.jobs.index(2500))
    model.select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    # Out of the selection's middle, and to its front: two ranges are left.
    desk.session.jobs_in_queue.remove(jobs[1000:1001])
    desk.session.jobs_in_queue.to_front(jobs[2000:2001])
    desk.wait(lambda: drawer.jobs.row_of(jobs[2000]) == 0 and drawer.jobs.rowCount() == 2999)
    expected = [jobs[2000], *jobs[10:1000], *jobs[1001:2000], *jobs[2001:2501]]
    assert [job.id for job in drawer.list.selected] == expected
    assert max(kept) < 10


@contextmanager
def calls_of_the_model() -> Generator[list[str]]:
    """Note the names of the functions with which Qt asks the model."""
    calls = list[str]()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        name, of_model = frame.f_code.co_name, queue_item_model.__file__
        if (
            event == "call"
            and frame.f_code.co_filename == of_model
            and hasattr(QStringListModel, name)
        ):
            calls.append(name)

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def show_many(desk: Desk, count: int) -> QueueDrawer:
    """Open the drawer over jobs that wait."""
    desk.session.jobs_in_queue.pause(paused=True)
    desk.session.generation.count = count
    desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == count)
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    return desk.window.queue


def test_a_selection_of_many_jobs_with_copies_between_asks_for_few_rows(desk: Desk) -> None:
    drawer, jobs = show_many(desk, 600), [job.id for job in desk.queue.jobs]
    drawer.list.selectAll()
    desk.session.jobs_in_queue.duplicate(jobs)
    desk.wait(lambda: drawer.jobs.rowCount() == 1200)
    # Each job that was selected is a range of its own now.
    drawer.jobs.rearranging.emit()
    with calls_of_the_model() as calls:
        drawer.jobs.layoutChanged.emit()
    assert len(calls) < 100
    assert [job.id for job in drawer.list.selected] == jobs


def test_a_change_of_a_long_queue_calls_the_model_for_the_shown_rows_alone(desk: Desk) -> None:
    drawer = show_many(desk, 3000)
    QApplication.processEvents()
    drawer.jobs.layoutChanged.emit()
    with calls_of_the_model() as calls:
        QApplication.processEvents()
        drawer.list.grab()
    assert 0 < len(calls) < 500


def rows_first(drawer: QueueDrawer) -> str:
    job = drawer.jobs.job_at(0)
    assert job is not None
    return job.id
