"""Everything that takes the focus has a name, and Tab leads to it in the order of reading."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_wheel import DIALOGS
from ui.files.dialog import FileDialog
from ui.places import Place
from ui.theme.theme import Theme

NAME = QAccessible.Text.Name
# Those that are told of though the focus does not go to them.
_NAMED = (
    QAccessible.Role.Button,
    QAccessible.Role.Dialog,
    QAccessible.Role.List,
    QAccessible.Role.ListItem,
    QAccessible.Role.PageTab,
    QAccessible.Role.ProgressBar,
    QAccessible.Role.Table,
    QAccessible.Role.Tree,
    QAccessible.Role.TreeItem,
)


def nodes(interface: QAccessibleInterface) -> Iterator[QAccessibleInterface]:
    """The tree below and with a node."""
    yield interface
    for index in range(interface.childCount()):
        child = interface.child(index)
        if child is not None:  # pyright: ignore[reportUnnecessaryComparison] (Qt may have none)
            yield from nodes(child)


def unnamed(window: QWidget) -> list[str]:
    """The widgets that take the focus or show something, and have no accessible name."""
    interface = QAccessible.queryAccessibleInterface(window)
    found: list[str] = []
    for node in nodes(interface):
        state = node.state()
        if state.invisible or node.text(NAME):  # pyright: ignore[reportAttributeAccessIssue]
            continue
        wants_one = state.focusable or node.role() in _NAMED  # pyright: ignore[reportAttributeAccessIssue]
        if wants_one:
            holder = node.object()
            found.append(
                f"{node.role()} {type(holder).__name__} in {type(holder.parent()).__name__}"
            )
    return found


def test_everything_that_takes_the_focus_has_a_name(desk: Desk) -> None:
    assert unnamed(desk.window) == []


def test_controls_have_names_beside_pictures_notices_and_a_running_job(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(steps=100_000, step_seconds=0.01))
    desk.paths.output.mkdir()
    (desk.paths.output / "a picture.png").touch()
    desk.start()
    desk.session.generation.count = 3
    desk.session.jobs.generate()
    desk.session.notices.tell("Something.", "To know.")
    desk.session.generation.steps = 3
    desk.wait(lambda: desk.queue.running is not None and desk.session.jobs.waiting == 2)
    desk.wait(lambda: len(desk.session.output_pictures) == 1)
    desk.session.view.choose(desk.session.output_pictures[0].path)
    desk.wait(desk.window.dock.cancel.isEnabled)
    assert unnamed(desk.window) == []


@pytest.mark.parametrize("place", [place for place in Place if place is not Place.CREATE])
def test_everything_of_a_page_has_a_name(desk: Desk, place: Place) -> None:
    desk.window.places.open(place)
    desk.wait(desk.window.places.page.isVisible)
    QApplication.processEvents()
    assert unnamed(desk.window) == []


# A question for files has its words once it is asked (tests/ui/files/test_dialog.py).
@pytest.mark.qt_log_ignore("propagateSizeHints")
@pytest.mark.parametrize("kind", [kind for kind in DIALOGS if kind is not FileDialog])
def test_everything_of_a_dialog_has_a_name(
    shared_desk: Desk, theme: Theme, kind: type[QDialog]
) -> None:
    dialog = DIALOGS[kind](shared_desk, theme)
    dialog.show()
    QApplication.processEvents()
    assert unnamed(dialog) == []
    dialog.close()


def tab_order(window: QWidget) -> list[QWidget]:
    """The widgets that Tab leads to, from the first."""
    order: list[QWidget] = []
    current = window.nextInFocusChain()
    while current is not None and current is not window:
        if current.focusPolicy() & Qt.FocusPolicy.TabFocus and current.isVisibleTo(window):
            order.append(current)
        current = current.nextInFocusChain()
    return order


def test_tab_goes_down_the_form_then_to_the_picture_and_the_strip(desk: Desk) -> None:
    window, form = desk.window, desk.window.form
    form.advanced.section.open()
    wanted: list[QWidget] = [
        *window.places.rail.buttons.values(),
        form.checkpoint.box,
        form.checkpoint.open,
        form.checkpoint.details,
        form.prompt,
        form.negative,
        form.inputs.choose,
        *form.picture_size.presets,
        form.picture_size.width_field,
        form.picture_size.height_field,
        form.advanced.section.head,
        form.advanced.rows.steps.slider,
        form.advanced.rows.steps.field,
        form.advanced.rows.guidance.slider,
        form.advanced.rows.guidance.field,
        form.advanced.rows.method.sampler,
        form.advanced.rows.method.schedule,
        window.strip,
        window.dock.count.field,
        window.dock.seed.number,
        window.dock.generate,
    ]
    order = tab_order(window)
    places = [order.index(widget) for widget in wanted]
    assert places == sorted(places)
    assert places[0] == 0


def test_tab_goes_down_sections_whenever_they_were_opened(desk: Desk) -> None:
    advanced = desk.window.form.advanced
    advanced.section.open()
    # From the last, so that the order of Tab is not the one in which they were made.
    for section in reversed(advanced.rows.sections.values()):
        section.open()
    desk.wait(advanced.rows.steps.isVisible)
    QApplication.processEvents()
    places = [
        (widget.mapTo(advanced, widget.rect().center()).y(), widget)
        for widget in tab_order(desk.window)
        if advanced.isAncestorOf(widget) and widget.focusProxy() is None
    ]
    assert len(places) > 30
    for (above, _), (below, widget) in pairwise(places):
        # Of the controls in a row.
        assert below > above - 4, widget
    assert unnamed(desk.window) == []


def test_the_first_thing_to_type_into_is_the_prompt(desk: Desk) -> None:
    assert desk.window.focusWidget() is desk.window.form.prompt


@pytest.fixture
def large_font(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[float]:
    usual = qapp.font()
    larger = qapp.font()
    larger.setPointSizeF(usual.pointSizeF() * request.param)
    qapp.setFont(larger)
    yield request.param
    qapp.setFont(usual)


@pytest.mark.parametrize("large_font", [1.0, 1.5], indirect=True)
@pytest.mark.parametrize("size", [(960, 640), (1440, 900)])
@pytest.mark.usefixtures("large_font")
def test_no_control_of_the_form_is_cut_off_at_the_side(
    make_desk: MakeDesk, size: tuple[int, int]
) -> None:
    desk = make_desk()
    desk.resize(*size)
    form, content = desk.window.form, desk.window.form.widget()
    assert content is not None
    desk.wait(lambda: desk.window.size().toTuple() == size)
    desk.wait(lambda: content.width() <= form.viewport().width())
    for child in content.findChildren(QWidget):
        if child.isVisible():
            right = child.mapTo(content, child.rect().topRight()).x()
            assert right < content.width(), child
