"""Qt's objects end where they belong: none is ever left to Python's collector of garbage.

`app.garbage` has that collect on the window's thread alone, but nobody knows when.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF
from PySide6.QtWidgets import QApplication

from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.packs import ROWS


@contextmanager
def left_to_the_collector() -> Generator[list[str]]:
    """The types of Qt's objects that only cycles kept, once it ends."""
    found: list[str] = []
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
    finally:
        gc.set_debug(0)
        found += [
            type(leftover).__name__ for leftover in gc.garbage if isinstance(leftover, QObject)
        ]
        gc.garbage.clear()
        gc.enable()


def settle() -> None:
    """Let happen what is due, also the end of what is to be deleted."""
    QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    QApplication.processEvents()


def paint_a_mask(desk: Desk) -> None:
    desk.window.form.inputs.paint.click()
    paint = desk.window.canvas.paint
    assert paint is not None
    desk.wait(lambda: not paint.layer.mask.isNull())
    paint.layer.line(QPointF(10, 10), QPointF(50, 50), 8, erases=False)
    paint.layer.finish()
    desk.wait(lambda: len(desk.session.generation.inputs) == 2)
    paint.bar.done.click()


def use_all(desk: Desk, start: Path) -> None:
    """Open and close what can be opened, make a picture, and have something told and undone."""
    window, session = desk.window, desk.session
    session.packs.rows = ROWS
    for dialog in (
        window.form.checkpoint.show_details(),
        window.windows.show_devices(),
        window.windows.show_runtimes(),
        window.windows.show_downloads(),
        window.windows.show_updates(),
    ):
        settle()
        dialog.close()
    window.info._show_menu()  # pyright: ignore[reportPrivateUsage]
    window.info.menu.close()
    for box in (window.form.advanced.rows.method.sampler, window.form.checkpoint.box):
        box.showPopup()
        settle()
        box.hidePopup()
    for offers in ([("One", "first")], [("One", "first"), ("Two", "second")]):
        window.drops.overlay.appear(offers)
        window.drops.overlay.point_at(QPoint())
        window.drops.overlay.hide()
    session.pictures.start_from(str(start), 64, 64)
    paint_a_mask(desk)
    session.notices.tell_error(ErrorInfo(ErrorCode.DISK_FULL, "Full."), job="a")
    session.changes.undo(session.generation.form)
    session.generation.load_request(GenerateRequest(prompt="a"))
    session.jobs.generate()
    desk.wait(lambda: session.view.path is not None)
    settle()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_using_the_window_leaves_nothing_of_qt_to_the_collector(
    make_desk: MakeDesk, tmp_path: Path
) -> None:
    desk = make_desk(Plan(steps=2)).start()
    start = tmp_path / "start.png"
    Image.new("RGB", (64, 64)).save(start)
    with left_to_the_collector() as found:
        use_all(desk, start)
        use_all(desk, start)
    assert found == []


def test_objects_left_to_the_collector_are_found() -> None:
    with left_to_the_collector() as found:
        cycle = QObject()
        cycle.itself = cycle  # pyright: ignore[reportAttributeAccessIssue]
        del cycle
    assert found == ["QObject"]
