"""Runtimes are offered, installed, tried, repaired and removed from the window."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

import app.packs.catalogue
from app.commands.pack_rows import PackAction, PackRow, PackStage
from app.engine.process import EngineState
from app.notices.remedies import NoticeAction
from app.packs.store import PackStore
from engine.api.machine import AdapterInfo, MachineInfo
from engine.api.remedies import InstallPack
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.downloads.faulty_server import Exchange
from tests.app.fake_engine import Plan
from tests.app.shop import BROKEN, Shop, open_shop
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.packs import CUDA, MACHINE, OPENVINO, ROWS, TENSORRT
from tests.ui.test_accessibility import unnamed
from ui.dialogs.downloads_dialog import DownloadsDialog
from ui.dialogs.runtimes_dialog import RuntimesDialog
from ui.machine_labels import adapter_words, processor_words
from ui.panels.pack_card import PackCard

# Windows beside the main one are raised, which nothing that draws off the screen can do.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
NO_CARDS = MachineInfo(processor="A processor", memory_total_bytes=8 << 30)
WITH_CARD = MachineInfo(
    processor="A processor",
    memory_total_bytes=8 << 30,
    adapters=(AdapterInfo(vendor="Maker", name="A card", backends=("webgpu",)),),
)


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    with open_shop(tmp_path / "shop") as made:
        monkeypatch.setattr(app.packs.catalogue, "catalogue_file", lambda: made.catalogue)
        # The window reads it once it has started, and its rows are told together.
        for pause in ("_AFTER_START_MS", "_SETTLE_MS"):
            monkeypatch.setattr(f"app.commands.packs.{pause}", 10)
        yield made


@pytest.fixture
def open_desk(shop: Shop, make_desk: MakeDesk) -> MakeDesk:
    """Make a desk that has read the shop's catalogue."""

    def make(plan: Plan = Plan(), *, real: bool = False) -> Desk:  # noqa: B008 (immutable)
        desk = make_desk(plan, real=real).start()
        desk.wait(lambda: len(desk.session.packs.rows) == len(shop.versions))
        return desk

    return make


def row_of(desk: Desk, pack: str) -> PackRow:
    return next(row for row in desk.session.packs.rows if row.id == pack)


def wait_for_stage(desk: Desk, pack: str, *stages: PackStage) -> None:
    desk.wait(lambda: row_of(desk, pack).stage in stages)


def wait_until_installed(desk: Desk, pack: str, version: str = "1.0") -> None:
    desk.wait(lambda: row_of(desk, pack).installed == version)
    wait_for_stage(desk, pack, PackStage.INSTALLED)


def press(card: PackCard, action: PackAction) -> None:
    """Press a button of a card, or choose it from the card's menu."""
    if action in card.rare:
        assert card.rare[action].isVisible()
        card.rare[action].trigger()
    else:
        assert not card.buttons[action].isHidden()
        card.buttons[action].click()


def visible(card: PackCard) -> list[str]:
    buttons = card.findChildren(QPushButton)
    return [button.text() for button in buttons if not button.isHidden()]


def held_after(shop: Shop, count: int) -> None:
    """Have the server send so many bytes of the next wheel, and hold the connection."""

    def answer(exchange: Exchange) -> None:
        exchange.content = shop.wheels[exchange.asked.path.removeprefix("/")]
        begin = exchange.file_head()
        exchange.send(exchange.content[begin : begin + count])
        exchange.stall()

    shop.server.script.append(answer)


def test_one_button_installs_a_runtime_and_the_engine_starts_anew(
    shop: Shop, open_desk: MakeDesk
) -> None:
    shop.offer("tiny")
    desk = open_desk()
    before = desk.process.hello
    card = desk.window.windows.show_runtimes().cards["tiny"]
    press(card, PackAction.INSTALL)
    wait_until_installed(desk, "tiny")
    desk.wait(lambda: desk.process.hello is not None and desk.process.hello is not before)
    assert [listed.id for _, listed in PackStore(desk.paths.packs).installed()] == ["tiny"]
    assert "Version 1.0" in card.stage.text()
    assert visible(card) == ["Manage"]
    desk.wait(lambda: desk.session.downloads.entries == ())


def test_nothing_is_asked_of_the_server_before_the_button_is_pressed(
    shop: Shop, open_desk: MakeDesk
) -> None:
    shop.offer("tiny")
    desk = open_desk()
    desk.window.windows.show_runtimes()
    assert "127.0.0.1" in desk.window.windows.show_runtimes().cards["tiny"].cost.text()
    assert shop.server.asked == []


def test_a_runtime_that_ends_its_trial_is_removed_and_the_reason_said(
    shop: Shop, open_desk: MakeDesk
) -> None:
    shop.offer("tiny", BROKEN)
    desk = open_desk()
    card = desk.window.windows.show_runtimes().cards["tiny"]
    press(card, PackAction.INSTALL)
    desk.wait(lambda: row_of(desk, "tiny").problem is not None)
    assert "does not work here" in card.problem.text()
    assert visible(card) == ["Try again"]
    assert PackStore(desk.paths.packs).installed() == ()
    assert desk.session.engine.state is EngineState.READY


def test_a_download_is_paused_resumed_and_cancelled(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny", padding=400_000)
    held_after(shop, 100_000)
    desk = open_desk()
    card = desk.window.windows.show_runtimes().cards["tiny"]
    press(card, PackAction.INSTALL)
    desk.wait(lambda: row_of(desk, "tiny").progress.done_bytes == 100_000)
    assert card.bar.value() > 0
    assert visible(card) == ["Pause", "Cancel"]
    press(card, PackAction.PAUSE)
    wait_for_stage(desk, "tiny", PackStage.PAUSED)
    assert "Paused" in card.stage.text()
    press(card, PackAction.RESUME)
    wait_until_installed(desk, "tiny")
    assert shop.server.ranges[-1] == "bytes=100000-"


def test_a_cancelled_download_leaves_nothing(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny", padding=400_000)
    held_after(shop, 100_000)
    desk = open_desk()
    card = desk.window.windows.show_runtimes().cards["tiny"]
    press(card, PackAction.INSTALL)
    desk.wait(lambda: row_of(desk, "tiny").progress.done_bytes == 100_000)
    press(card, PackAction.CANCEL)
    wait_for_stage(desk, "tiny", PackStage.AVAILABLE)
    downloads = desk.paths.packs / ".downloads"
    desk.wait(lambda: not [path for path in downloads.rglob("*") if path.suffix == ".part"])
    assert visible(card) == ["Install"]


def test_a_download_goes_on_after_a_restart(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny", padding=400_000)
    held_after(shop, 100_000)
    first = open_desk()
    first.session.packs.act("tiny", PackAction.INSTALL)
    first.wait(lambda: row_of(first, "tiny").progress.done_bytes == 100_000)
    first.end()
    second = open_desk()
    wait_until_installed(second, "tiny")
    assert shop.server.ranges[-1] == "bytes=100000-"


def test_a_download_of_a_version_that_is_no_longer_offered_ends_with_the_update(
    shop: Shop, open_desk: MakeDesk
) -> None:
    """Nothing could be made of it, and it may have gigabytes to come."""
    shop.offer("tiny", padding=300_000)
    held_after(shop, 1000)
    desk = open_desk()
    desk.session.packs.act("tiny", PackAction.INSTALL)
    wait_for_stage(desk, "tiny", PackStage.DOWNLOADING)
    desk.wait(lambda: desk.session.downloads.entries[0].bytes_done == 1000)
    desk.end()
    shop.offer("tiny", version="2.0")
    desk = open_desk()
    desk.wait(lambda: desk.session.downloads.entries == ())
    desk.session.packs.act("tiny", PackAction.INSTALL)
    wait_until_installed(desk, "tiny", "2.0")
    desk.wait(lambda: not list(desk.paths.packs.rglob("*.part*")))


def test_the_engine_keeps_its_pictures_until_they_are_made(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny")
    desk = open_desk(Plan(steps=100_000, step_seconds=0.01))
    before = desk.process.hello
    desk.session.jobs.generate()
    desk.wait(lambda: desk.queue.running is not None)
    card = desk.window.windows.show_runtimes().cards["tiny"]
    press(card, PackAction.INSTALL)
    wait_for_stage(desk, "tiny", PackStage.READY)
    assert desk.process.hello is before
    assert visible(card) == ["Use it now", "Manage"]
    desk.session.jobs.cancel_all()
    wait_for_stage(desk, "tiny", PackStage.INSTALLED)
    desk.wait(lambda: desk.process.hello is not None and desk.process.hello is not before)


def test_using_it_now_begins_the_running_picture_anew(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny")
    desk = open_desk(Plan(steps=100_000, step_seconds=0.01))
    before = desk.process.hello
    desk.session.jobs.generate()
    desk.wait(lambda: desk.queue.running is not None)
    desk.session.packs.act("tiny", PackAction.INSTALL)
    wait_for_stage(desk, "tiny", PackStage.READY)
    press(desk.window.windows.show_runtimes().cards["tiny"], PackAction.USE_NOW)
    desk.wait(lambda: desk.process.hello is not None and desk.process.hello is not before)
    desk.wait(lambda: desk.queue.running is not None)
    assert len(desk.queue.jobs) == 1
    desk.session.jobs.cancel_all()
    desk.wait_for_jobs(1)


def test_a_newer_version_is_offered_and_left_again(
    shop: Shop, open_desk: MakeDesk, tmp_path: Path
) -> None:
    shop.offer("tiny")
    first = open_desk()
    first.session.packs.act("tiny", PackAction.INSTALL)
    wait_until_installed(first, "tiny")
    first.end()
    shop.offer("tiny", version="2.0")
    desk = open_desk()
    card = desk.window.windows.show_runtimes().cards["tiny"]
    assert visible(card) == ["Install 2.0", "Manage"]
    press(card, PackAction.UPGRADE)
    wait_until_installed(desk, "tiny", "2.0")
    assert card.rare[PackAction.GO_BACK].text() == "Go back to 1.0"
    press(card, PackAction.GO_BACK)
    wait_until_installed(desk, "tiny", "1.0")


def test_a_missing_file_is_put_back_by_repair(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny")
    desk = open_desk()
    desk.session.packs.act("tiny", PackAction.INSTALL)
    wait_until_installed(desk, "tiny")
    file = desk.paths.packs / "tiny-1.0" / "site" / "tiny_runtime.py"
    file.unlink()
    press(desk.window.windows.show_runtimes().cards["tiny"], PackAction.REPAIR)
    desk.wait(file.exists)
    wait_until_installed(desk, "tiny")


def test_a_removed_runtime_is_offered_in_the_list_again(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny")
    desk = open_desk()
    desk.session.packs.act("tiny", PackAction.INSTALL)
    wait_until_installed(desk, "tiny")
    card = desk.window.windows.show_runtimes().cards["tiny"]
    press(card, PackAction.REMOVE)
    wait_for_stage(desk, "tiny", PackStage.AVAILABLE)
    assert visible(card) == ["Install"]
    assert not (desk.paths.packs / "tiny-1.0").exists()


def test_a_runtime_is_installed_from_a_file_without_a_connection(
    shop: Shop, open_desk: MakeDesk, tmp_path: Path
) -> None:
    shop.offer("tiny")
    (name, content), *_ = shop.wheels.items()
    file = tmp_path / name
    file.write_bytes(content)
    desk = open_desk()
    desk.session.packs.install_file(file)
    wait_until_installed(desk, "tiny")
    assert shop.server.asked == []


def test_a_file_of_no_runtime_is_refused_by_its_name(
    shop: Shop, open_desk: MakeDesk, tmp_path: Path
) -> None:
    shop.offer("tiny")
    desk = open_desk()
    desk.session.packs.install_file(tmp_path / "tiny-9.9-py3-none-any.whl")
    assert "tiny-9.9" in desk.session.notices.notices[-1].message


def test_without_a_network_the_reason_is_said_and_it_can_be_tried_again(
    shop: Shop, open_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.offer("tiny")
    shop.server.port = 1
    shop.write()
    desk = open_desk()
    card = desk.window.windows.show_runtimes().cards["tiny"]
    press(card, PackAction.INSTALL)
    desk.wait(lambda: row_of(desk, "tiny").problem is not None)
    assert "no connection" in card.problem.text()
    assert visible(card) == ["Try again", "Cancel"]


def show_rows(desk: Desk, *rows: PackRow) -> RuntimesDialog:
    desk.session.devices.machine = MACHINE
    dialog = desk.window.windows.show_runtimes()
    desk.session.packs.rows = rows
    desk.session.packs.changed.emit()
    return dialog


def test_a_proprietary_licence_is_named_and_can_be_read_before(desk: Desk) -> None:
    dialog = show_rows(desk, TENSORRT, OPENVINO)
    card = dialog.cards[TENSORRT.id]
    assert "NVIDIA Software Licence (proprietary)" in card.cost.text()
    assert visible(card) == ["Read the licence: NVIDIA Software Licence", "Accept and install"]


def test_packs_for_other_computers_are_folded_away(desk: Desk) -> None:
    dialog = show_rows(desk, *ROWS)
    others = [row.id for row in ROWS if row.reason]
    # Cards that nobody sees are not made; many at once would hold the window up.
    assert not dialog.cards.keys() & set(others)
    dialog.others_shown.click()
    assert not dialog.cards.keys() & set(others)
    desk.wait(lambda: set(others) <= dialog.cards.keys())
    places = [dialog.others.indexOf(dialog.cards[name]) for name in others]
    assert places == list(range(len(others)))
    assert not any(card.isHidden() for card in dialog.cards.values())
    assert "It is made for Windows." in dialog.cards["windows-directml"].stage.text()
    dialog.others_shown.click()
    assert all(dialog.cards[name].isHidden() for name in others)


def test_a_pack_for_other_computers_is_revealed(desk: Desk) -> None:
    dialog = show_rows(desk, *ROWS)
    dialog.reveal("windows-directml")
    assert dialog.others_shown.isChecked()
    assert not dialog.cards["windows-directml"].isHidden()


def test_the_focus_stays_while_a_download_goes_on(desk: Desk) -> None:
    dialog = show_rows(desk, CUDA)
    pause = dialog.cards[CUDA.id].buttons[PackAction.PAUSE]
    desk.wait(dialog.isActiveWindow)
    pause.setFocus()
    show_rows(desk, CUDA)
    assert pause.hasFocus()


def test_the_focus_stays_in_the_card_when_its_button_goes(desk: Desk) -> None:
    waiting = msgspec.structs.replace(CUDA, stage=PackStage.AVAILABLE)
    dialog = show_rows(desk, waiting, TENSORRT)
    card = dialog.cards[CUDA.id]
    desk.wait(dialog.isActiveWindow)
    card.buttons[PackAction.INSTALL].setFocus()
    show_rows(desk, CUDA, TENSORRT)
    assert card.buttons[PackAction.PAUSE].hasFocus()


def test_a_key_of_the_menus_works_in_the_list_too(desk: Desk) -> None:
    dialog = show_rows(desk, *ROWS)
    desk.wait(dialog.isActiveWindow)
    QTest.keyClick(dialog, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    desk.wait(lambda: desk.window.findChild(DownloadsDialog) is not None)


def test_escape_closes_the_list_and_stops_nothing(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny", padding=400_000)
    held_after(shop, 100_000)
    desk = open_desk()
    dialog = desk.window.windows.show_runtimes()
    press(dialog.cards["tiny"], PackAction.INSTALL)
    desk.wait(lambda: row_of(desk, "tiny").progress.done_bytes == 100_000)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    desk.wait(lambda: desk.window.findChild(RuntimesDialog) is None)
    assert row_of(desk, "tiny").stage is PackStage.DOWNLOADING
    assert "Tiny · downloading" in desk.window.dock.device.accessibleName()


def test_every_control_of_the_list_has_a_name(desk: Desk) -> None:
    dialog = show_rows(desk, *ROWS)
    dialog.others_shown.click()
    assert unnamed(dialog) == []


def offer_bar_of(shop: Shop, open_desk: MakeDesk, machine: MachineInfo) -> Desk:
    shop.offer("tiny")
    text = shop.catalogue.read_text().replace("[packs.tiny]", '[packs.tiny]\nbackends = ["webgpu"]')
    shop.catalogue.write_text(text)
    desk = open_desk()
    desk.session.devices.machine = machine
    desk.wait(lambda: bool(row_of(desk, "tiny").reason) == (machine is NO_CARDS))
    return desk


def test_the_best_runtime_is_offered_until_it_is_declined(shop: Shop, open_desk: MakeDesk) -> None:
    first = offer_bar_of(shop, open_desk, WITH_CARD)
    first.wait(first.window.offer.isVisible)
    assert "Tiny suits this computer" in first.window.offer.message.text()
    first.window.offer.not_now.click()
    assert not first.window.offer.isVisible()
    first.end()
    second = offer_bar_of(shop, open_desk, WITH_CARD)
    assert second.session.packs.offer is None
    assert "tiny" in second.window.windows.show_runtimes().cards


def test_a_runtime_that_no_card_can_use_is_not_offered(shop: Shop, open_desk: MakeDesk) -> None:
    desk = offer_bar_of(shop, open_desk, NO_CARDS)
    assert desk.session.packs.offer is None
    assert not desk.window.offer.isVisible()
    # The card may be one that Safelight does not recognise.
    dialog = desk.window.windows.show_runtimes("tiny")
    assert not dialog.cards["tiny"].buttons[PackAction.INSTALL].isHidden()


def test_a_failure_that_a_runtime_cures_leads_to_it(shop: Shop, open_desk: MakeDesk) -> None:
    shop.offer("tiny")
    desk = open_desk()
    error = ErrorInfo(ErrorCode.BACKEND_UNAVAILABLE, "No.", remedies=(InstallPack(pack="tiny"),))
    desk.session.notices.tell_error(error)
    desk.window.notices.cards[-1].remedies[NoticeAction.RUNTIMES].click()
    dialog = desk.window.findChild(RuntimesDialog)
    assert isinstance(dialog, RuntimesDialog)
    desk.wait(dialog.isActiveWindow)
    assert dialog.cards["tiny"].buttons[PackAction.INSTALL].hasFocus()


def test_a_computer_that_no_runtime_suits_is_told_that_nothing_is_missing(desk: Desk) -> None:
    """Once the list was empty without a word."""
    dialog = show_rows(desk, *(row for row in ROWS if row.reason))
    assert dialog.nothing.isVisible()
    assert show_rows(desk, *ROWS).nothing.isHidden()


def test_memory_is_told_as_it_is_sold() -> None:
    """Once it was 34.2 GB here and 32 GB among the devices."""
    assert processor_words(MACHINE).endswith("32 GB of memory")
    assert "12 GB" in adapter_words(MACHINE.adapters[0]).split(" · ")
