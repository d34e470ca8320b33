"""A batch is seen side by side; one of its pictures alone, and all again."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.api.limits import MAX_STEPS
from engine.api.messages import JobPreview
from engine.api.values import InputRole
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from ui.actions import ActionName
from ui.panels.canvas_panel import CanvasPanel
from ui.theme.theme import Theme
from ui.widgets.batch_cell import BatchCell

LONG = Plan(steps=100_000, step_seconds=0.01, previews=1)


def made(make_desk: MakeDesk, count: int, plan: Plan = Plan(steps=2)) -> Desk:  # noqa: B008
    desk = make_desk(plan).start()
    desk.session.generation.count = count
    desk.session.jobs.generate()
    return desk


def engine_at_work(make_desk: MakeDesk) -> Desk:
    """A desk on the real engine, which makes pictures of noise: networks are not what is judged."""
    desk = make_desk(real=True).start()
    form = desk.session.generation
    form.backend, form.steps = "null", 1
    form.width = form.height = 64
    return desk


def names(canvas: CanvasPanel) -> list[str]:
    return [cell.accessibleName() for cell in canvas.batch.cells.values()]


def test_a_batch_is_seen_side_by_side_while_it_is_made(make_desk: MakeDesk) -> None:
    desk = made(make_desk, 4, LONG)
    canvas = desk.window.canvas
    desk.wait(canvas.batch.isVisible)
    wanted = ["Picture 1 of 4, being made", *(f"Picture {n} of 4, waiting" for n in (2, 3, 4))]
    desk.wait(lambda: names(canvas) == wanted)
    first, *others = canvas.batch.cells.values()
    desk.wait(lambda: desk.session.progress.job is not None)
    event = JobPreview(job=desk.session.progress.job or "", width=2, height=2, step=1)
    desk.session.progress.on_preview(event, bytes([0, 200, 0]) * 4)

    def middle() -> QColor:
        return first.grab().toImage().pixelColor(first.rect().center())

    desk.wait(lambda: middle().green() == 200)
    # The cells are laid out when the window next does so.
    desk.wait(lambda: first.y() == others[0].y() < others[1].y())
    assert unnamed(desk.window) == []
    first.click()
    desk.wait(canvas.view.isVisible)
    desk.wait(canvas.back.isVisible)
    canvas.back.click()
    desk.wait(canvas.batch.isVisible)


def test_a_finished_picture_is_seen_alone_and_escape_goes_back(make_desk: MakeDesk) -> None:
    desk = made(make_desk, 3)
    desk.wait_for_jobs(3)
    canvas, view = desk.window.canvas, desk.session.view
    desk.wait(lambda: names(canvas) == [f"Picture {n} of 3" for n in (1, 2, 3)])
    second = list(canvas.batch.cells.values())[1]
    second.setFocus()
    QTest.keyClick(second, Qt.Key.Key_Return)
    assert view.path == desk.queue.jobs[1].images[0]
    assert canvas.view.isVisible()
    QTest.keyClick(canvas.view, Qt.Key.Key_Escape)
    assert canvas.batch.isVisible()


def test_the_seed_that_is_kept_is_that_of_the_picture_shown(make_desk: MakeDesk) -> None:
    desk = engine_at_work(make_desk)
    form = desk.session.generation
    form.count = 2
    desk.session.jobs.generate()
    first, second = desk.wait_for_jobs(2)
    for job in (first, second, first):
        desk.session.view.choose(job.images[0])
        desk.wait(lambda wanted=job: form.seed == generation_of(wanted).seed)
    form.seed_locked = True
    desk.session.view.choose(second.images[0])
    desk.wait(lambda: desk.window.info.title.text() != "")
    desk.wait(lambda: str(generation_of(second).seed) in desk.window.info.detail.text())
    assert form.seed == generation_of(first).seed


def test_a_picture_that_was_cancelled_leaves_the_seed_of_the_one_shown(make_desk: MakeDesk) -> None:
    # Once its seed stayed in the field, and "Keep this seed" kept that of no picture.
    desk = engine_at_work(make_desk)
    form = desk.session.generation
    desk.session.jobs.generate()
    (first,) = desk.wait_for_jobs(1)
    shown = desk.window.info.detail
    desk.wait(lambda: str(generation_of(first).seed) in shown.text() and form.seed is not None)
    form.steps = MAX_STEPS
    desk.session.jobs.generate()
    desk.wait(lambda: form.seed != generation_of(first).seed)
    desk.session.jobs.cancel()
    desk.wait(lambda: form.seed == generation_of(first).seed)


def test_a_picture_in_the_trash_leaves_the_batch_until_it_is_put_back(
    make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    desk = made(make_desk, 3)
    jobs = desk.wait_for_jobs(3)
    canvas, session = desk.window.canvas, desk.session
    desk.wait(canvas.batch.isVisible)
    session.pictures.trash(jobs[1].images[0])
    desk.wait(lambda: names(canvas) == ["Picture 1 of 2", "Picture 2 of 2"])
    assert list(canvas.batch.cells) == [jobs[0].id, jobs[2].id]
    if session.notices.notices[-1].actions == ():
        pytest.skip("this system does not say where its trash is")
    session.remedies.undo_latest()
    desk.wait(lambda: len(canvas.batch.cells) == 3)
    assert session.batch.number(jobs[1].id) == 2


def test_one_picture_is_no_batch(make_desk: MakeDesk) -> None:
    desk = made(make_desk, 1)
    desk.wait_for_jobs(1)
    assert not desk.window.canvas.batch.isVisible()
    assert not desk.window.canvas.back.isVisible()


def test_a_picture_of_a_batch_is_started_from_and_painted_on(make_desk: MakeDesk) -> None:
    desk = engine_at_work(make_desk)
    desk.session.generation.count = 2
    desk.session.jobs.generate()
    first, _ = desk.wait_for_jobs(2)
    desk.session.view.choose(first.images[0])
    action = desk.window.actions_by_name[ActionName.PAINT]
    desk.wait(action.isEnabled)
    desk.wait(lambda: str(generation_of(first).seed) in desk.window.info.detail.text())
    action.trigger()
    assert desk.session.generation.input_path(InputRole.INIT) == first.images[0]


def test_a_picture_is_scaled_once_for_all_its_drawings(theme: Theme, qtbot: QtBot) -> None:
    """A large one takes 10 ms, and every preview draws all cells."""
    cell = BatchCell(theme)
    qtbot.addWidget(cell)
    cell.resize(100, 100)
    picture = QImage(64, 64, QImage.Format.Format_RGB32)
    picture.fill(QColor(0, 200, 0))
    cell.show_image(picture)
    first, kept = cell.grab().toImage(), cell._drawn.cacheKey()  # pyright: ignore[reportPrivateUsage]
    assert cell.grab().toImage() == first
    assert cell._drawn.cacheKey() == kept  # pyright: ignore[reportPrivateUsage]
    assert first.pixelColor(50, 50) == QColor(0, 200, 0)
    picture = picture.copy()
    picture.fill(QColor(0, 0, 200))
    cell.show_image(picture)
    assert cell.grab().toImage().pixelColor(50, 50) == QColor(0, 0, 200)
    cell.resize(60, 60)
    assert cell.grab().toImage().pixelColor(30, 30) == QColor(0, 0, 200)
    cell.show_sheet(picture.size(), failed=False)
    assert cell.grab().toImage().pixelColor(30, 30) != QColor(0, 0, 200)
