"""The device in use and the reason for it can be seen, and the devices checked again."""

import msgspec
import pytest
from PySide6.QtWidgets import QLabel

from app.engine.device_state import DeviceState
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.devices import CHOICE, DEVICES
from tests.ui.finished import finish
from tests.ui.test_accessibility import unnamed
from ui.device_labels import short_device_name
from ui.dialogs.device_dialog import DeviceDialog
from ui.settings.devices_section import DeviceRow


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    desk = make_desk()
    desk.session.devices.choice = CHOICE
    desk.session.devices.devices = DEVICES
    return desk


def texts(row: DeviceRow) -> list[str]:
    labels = row.findChildren(QLabel)
    return [label.text().replace("\u200b", "") for label in labels if label.text()]


def rows(dialog: DeviceDialog) -> list[list[str]]:
    dialog.section.all_shown.setChecked(True)
    finish(dialog.section)
    return [texts(row) for row in dialog.section.findChildren(DeviceRow)]


def test_the_dock_says_what_is_used_and_why(desk: Desk) -> None:
    button = desk.window.dock.device
    button.show_words(shown=True)
    assert button.text() == "RTX 4070"
    assert CHOICE in button.toolTip()
    assert CHOICE in button.accessibleDescription()
    desk.session.devices.checking = True
    assert button.text() == "Checking your hardware, once…"
    desk.session.devices.checking = False
    desk.session.devices.devices = (msgspec.structs.replace(DEVICES[0], unusable="It crashed."),)
    assert button.text() == ""
    assert button.accessibleName() == "Devices…"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NVIDIA GeForce RTX 4070", "RTX 4070"),
        ("13th Gen Intel(R) Core(TM) i7-13700K", "Core i7-13700K"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Xeon"),
        ("AMD Radeon RX 7900 XTX", "Radeon RX 7900 XTX"),
        ("processor", "Processor"),
        ("Intel", "Intel"),
    ],
)
def test_a_device_is_called_what_a_person_calls_it(name: str, words: str) -> None:
    assert short_device_name(msgspec.structs.replace(DEVICES[0], name=name)) == words


def test_the_device_opens_the_list_of_devices(desk: Desk) -> None:
    desk.window.dock.device.click()
    assert desk.window.findChild(DeviceDialog) is not None


def test_the_list_says_how_each_did(desk: Desk) -> None:
    dialog = desk.window.windows.show_devices()
    assert rows(dialog)[:4] == [
        [
            "TensorRT-RTX · NVIDIA GeForce RTX 4070",
            "f16 2.1 ms · f32 6.8 ms",
            "In use: 1.9x faster than CUDA here.",
        ],
        ["CUDA · NVIDIA GeForce RTX 4070", "f16 4.0 ms · f32 11.3 ms", "Works."],
        [
            "WebGPU · NVIDIA GeForce RTX 4070",
            "f32 14.9 ms",
            "Works in full precision only.",
        ],
        ["OpenVINO · 13th Gen Intel(R) Core(TM) i7-13700K", "f32 212 ms", "Works."],
    ]
    assert rows(dialog)[5][-1].endswith("“CUDA error: device was removed”")
    assert rows(dialog)[6][-1] == "It crashed (0xc0000005)."
    assert rows(dialog)[7] == ["MIGraphX", "No AMD graphics card found"]
    assert unnamed(dialog) == []


def test_devices_can_be_checked_again_while_they_are_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def check(state: DeviceState) -> None:
        asked.append(True)
        state.checking = True

    monkeypatch.setattr(DeviceState, "check_again", check)
    dialog = desk.window.windows.show_devices()
    dialog.section.again.click()
    assert asked == [True]
    assert not dialog.section.again.isEnabled()
    desk.session.devices.devices = DEVICES[1:2]
    desk.session.devices.checking = False
    assert dialog.section.again.isEnabled()
    assert len(rows(dialog)) == 1


def test_the_real_engine_fills_it(make_desk: MakeDesk) -> None:
    desk = make_desk(real=True).start()
    desk.wait(lambda: bool(desk.session.devices.devices))
    assert desk.window.dock.device.accessibleName() == "Processor"
    assert not desk.session.devices.checking
    dialog = desk.window.windows.show_devices()
    assert rows(dialog)[0][-1] == "In use: the only one that is known to work here."
