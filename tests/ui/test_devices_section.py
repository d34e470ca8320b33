"""The devices answer a person: what is used, how long, what would help, what is kept."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QPushButton

from app.engine.cache_state import CachedModel
from app.engine.client import EngineClient
from app.engine.speed import SD_1_5, SDXL, PictureKind, seconds_per_picture
from engine.api.machine import ArtifactInfo, MemoryOutlook
from engine.api.machine_messages import CacheListed, CacheRebuilding, JobPlanned
from engine.api.messages import JobFailed, QueryFailed
from engine.api.request import GenerateRequest
from engine.api.values import ArtifactKind, ErrorCode, ErrorInfo
from tests.ended import delete_after_test
from tests.ui.conftest import Desk
from tests.ui.devices import CARD, CHOICE, DEVICES
from tests.ui.finished import finish
from tests.ui.packs import ROWS
from tests.ui.test_accessibility import unnamed
from tests.ui.test_first_run import MACHINE
from ui.device_labels import device_pace, device_words
from ui.dialogs.runtimes_dialog import RuntimesDialog
from ui.outlook_labels import outlook_words
from ui.places import Place
from ui.settings.cache_table import CacheRow
from ui.settings.devices_section import DeviceRow, DevicesSection
from ui.settings.page import SettingsPage
from ui.theme.metrics import S

# The runtimes are raised, which nothing that draws off the screen can do.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def section(desk: Desk) -> DevicesSection:
    devices = desk.session.devices
    devices.machine, devices.devices, devices.choice = MACHINE, DEVICES, CHOICE
    return desk.window.windows.show_devices().section


def open_settings(desk: Desk) -> None:
    """Open the page with all of its rows, which it makes a few at a time."""
    desk.window.places.open(Place.SETTINGS)
    (page,) = desk.window.findChildren(SettingsPage)
    page.complete()


def artifact(name: str, checkpoint: str, size: int) -> ArtifactInfo:
    return ArtifactInfo(
        name=name,
        kind=ArtifactKind.COMPILED_NETWORK,
        bytes=size,
        last_used=1e9,
        checkpoint=checkpoint,
    )


def test_the_card_in_use_is_said_first(section: DevicesSection) -> None:
    assert section.used.text().replace("\u200b", "") == f"Your graphics card {CARD} is used."
    assert "12 GB" in section.found.text()
    assert unnamed(section) == []


def test_times_of_usual_pictures_follow_from_the_trial(section: DevicesSection) -> None:
    # 240 trials of 2.1 ms, and 12 times as many for SDXL's larger network and picture.
    assert "512 px, 20 steps: about 0.5 s" in section.times.text()
    assert "SDXL, 1024 px, 20 steps: about 6 s" in section.times.text()


def test_times_measured_while_the_computer_was_busy_are_told_as_such(
    desk: Desk, section: DevicesSection
) -> None:
    busy = tuple(msgspec.structs.replace(device, disturbed=True) for device in DEVICES)
    desk.session.devices.devices = busy
    remark = "about 0.5 s, measured while the computer was busy"
    assert f"512 px, 20 steps: {remark}" in section.times.text()
    # Where there is no room for the remark, there is no time.
    assert desk.session.picture_time.of(SD_1_5) is None
    assert desk.session.picture_time.of_form is None
    first, *_, failed, crashed, _ = busy
    assert "was removed”. This was measured" in device_words(failed, "")
    assert "while the computer was busy" in device_pace(first)
    assert device_words(first, "").endswith("measured while the computer was busy.")
    assert "busy" not in device_words(crashed, "")


def test_a_change_of_the_form_changes_the_time_and_no_row(
    desk: Desk, section: DevicesSection
) -> None:
    """To make ten rows anew takes longer than a frame, and the form changes often."""
    section.all_shown.setChecked(True)
    # They come in slices: all at once would hold the window up.
    assert not section.findChildren(DeviceRow)
    finish(section)
    rows = section.findChildren(DeviceRow)
    assert len(rows) == len(DEVICES)
    section.times.setText("as it was")
    desk.session.picture_time.changed.emit()
    assert "20 steps" in section.times.text()
    assert section.findChildren(DeviceRow) == rows


def test_times_scale_with_what_is_evaluated() -> None:
    device = DEVICES[0]
    whole = 20 * 12 * 2.1 / 1000
    assert seconds_per_picture(device, SD_1_5) == pytest.approx(whole)
    unguided = PictureKind(860e6, 512, 512, 20)
    assert seconds_per_picture(device, unguided) == pytest.approx(whole / 2)
    assert seconds_per_picture(DEVICES[-1], SDXL) is None


def test_the_memory_is_told_in_words() -> None:
    plan = MemoryOutlook(device="x", peak_bytes=2_100_000_000, budget_bytes=9_000_000_000)
    assert outlook_words(plan, None) == "It needs about 2.1 GB of the 9.0 GB that may be used."
    tight = msgspec.structs.replace(plan, peak_bytes=10**10, takes_turns=True, tiles=True)
    words = outlook_words(tight, None)
    assert "more than is free" in words
    assert "take turns" in words
    assert "tiles" in words
    for text, denoiser, said in (
        (8, 16, "text encoders are rounded to 8 bits"),
        (16, 4, "denoiser is rounded to 4 bits"),
        (8, 8, "model is rounded to 8 bits"),
        (4, 8, "denoiser is rounded to 8 bits, to save memory, the text encoders to 4."),
    ):
        rounded = msgspec.structs.replace(plan, text_encoder_bits=text, denoiser_bits=denoiser)
        assert said in outlook_words(rounded, None)
    problem = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "It is too large.", "")
    assert outlook_words(plan, problem) == "It is too large."


def test_the_form_is_planned_while_its_plan_is_seen(
    desk: Desk, section: DevicesSection, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []

    def plan(_client: EngineClient, request: GenerateRequest) -> int:
        asked.append(request.steps)
        return 1

    monkeypatch.setattr(EngineClient, "plan_job", plan)
    form, outlook = desk.session.generation, desk.session.outlook
    outlook._pause.setInterval(10)  # pyright: ignore[reportPrivateUsage]
    form.steps = 7
    desk.wait(lambda: asked == [7])
    # Words do not change the plan, nor does it become another where it is seen twice.
    form.prompt = "a house"
    open_settings(desk)
    desk.wait(lambda: not outlook._pause.isActive())  # pyright: ignore[reportPrivateUsage]
    assert asked == [7]
    section.window().close()
    form.steps = 8
    desk.wait(lambda: asked == [7, 8])
    desk.window.places.open(Place.GALLERY)
    assert not desk.session.outlook.is_wanted
    form.steps = 9
    assert not outlook._pause.isActive()  # pyright: ignore[reportPrivateUsage]
    assert asked == [7, 8]
    desk.window.places.open(Place.CREATE)
    assert asked == [7, 8, 9]
    # Another program may have taken memory.
    desk.session.devices.devices = DEVICES[:1]
    desk.wait(lambda: asked == [7, 8, 9, 9])
    # A plan that was refused during a job is asked for again once that has failed.
    error = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "It is too large.", "")
    desk.session.client.job_failed.emit(JobFailed(job="a-0", error=error))
    desk.wait(lambda: asked == [7, 8, 9, 9, 9])


def test_the_memory_of_another_picture_is_not_told_while_a_job_runs(
    desk: Desk, section: DevicesSection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(_client: EngineClient, _request: GenerateRequest) -> int:
        return 1

    monkeypatch.setattr(EngineClient, "plan_job", plan)
    client, outlook, form = desk.session.client, desk.session.outlook, desk.session.generation
    planned = MemoryOutlook(device="x", peak_bytes=2_100_000_000, budget_bytes=9 * 10**9)
    busy = ErrorInfo(ErrorCode.NOT_AVAILABLE, "A job runs.", "")
    form.width = 320
    outlook.want(wanted=True)
    client.job_planned.emit(JobPlanned(query=1, outlook=planned))
    # The same picture again, as after another job.
    client.job_failed.emit(JobFailed(job="a-0", error=busy))
    outlook.want(wanted=True)
    client.query_failed.emit(QueryFailed(query=1, error=busy))
    assert outlook.outlook == planned
    form.width = 8192
    outlook.want(wanted=True)
    client.query_failed.emit(QueryFailed(query=1, error=busy))
    assert outlook.outlook is None
    for _ in range(3):
        outlook.want(wanted=False)


def test_the_size_has_the_memory_that_it_needs(desk: Desk) -> None:
    shown, outlook = desk.window.form.picture_size.megapixels, desk.session.outlook
    outlook.outlook = MemoryOutlook(device="x", peak_bytes=2_100_000_000, budget_bytes=9 * 10**9)
    assert shown.text() == "0.07 MP · about 2.1 GB of memory"
    assert "9.0 GB that may be used" in shown.toolTip()
    outlook.problem = ErrorInfo(ErrorCode.CHECKPOINT_NOT_FOUND, "It is gone.", "")
    outlook.outlook = None
    assert shown.text() == "0.07 MP"
    outlook.problem = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "It is too large.", "")
    assert shown.text() == "0.07 MP · too large for the memory"
    assert shown.toolTip() == "It is too large."


def test_the_settings_show_the_section_itself(desk: Desk) -> None:
    devices = desk.session.devices
    devices.machine, devices.devices, devices.choice = MACHINE, DEVICES, CHOICE
    open_settings(desk)
    (section,) = desk.window.findChildren(DevicesSection)
    assert section.isVisible()
    assert CARD in section.used.text().replace("\u200b", "")
    section.runtimes.click()
    desk.wait(lambda: desk.window.findChild(RuntimesDialog) is not None)


def test_the_cache_is_shown_by_model_and_cleared_by_it(
    desk: Desk, section: DevicesSection, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleared: list[tuple[str, ...]] = []

    def clear(_client: EngineClient, names: Iterable[str]) -> int:
        cleared.append(tuple(names))
        return 9

    monkeypatch.setattr(EngineClient, "clear_cache", clear)
    cache = desk.session.cache
    monkeypatch.setattr(cache, "_query", 5)
    found = (artifact("a", "mix", 10), artifact("b", "mix", 20), artifact("c", "", 5))
    desk.client.cache_listed.emit(CacheListed(query=5, artifacts=found))
    assert cache.models == (
        CachedModel("mix", ("a", "b"), 30, 1e9),
        CachedModel("", ("c",), 5, 1e9),
    )
    assert "35" in section.cache.about.text()
    section.cache.rows[0].clear.click()
    section.cache.clear_all.click()
    assert cleared == [("a", "b"), ("a", "b", "c")]
    desk.client.cache_listed.emit(CacheListed(query=9, artifacts=()))
    assert section.cache.about.text() == "Nothing is kept."
    assert section.cache.rows == ()


def test_no_runtime_is_advised_before_the_hardware_is_known(desk: Desk) -> None:
    """Once a runtime for cards was, while the window still looked for one."""
    desk.session.packs.rows = ROWS
    section = desk.window.windows.show_devices().section
    assert section.faster.text() == section.times.text()


def test_a_runtime_that_suits_is_named_as_the_way_to_be_faster(
    desk: Desk, section: DevicesSection
) -> None:
    assert "Every runtime" in section.faster.text()
    desk.session.packs.rows = ROWS
    desk.session.packs.changed.emit()
    suited = next(row for row in ROWS if not row.reason)
    assert suited.title in section.faster.text()


def test_the_cache_of_a_model_is_rebuilt_with_progress(
    desk: Desk, section: DevicesSection, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[tuple[str, ...], str]] = []

    def rebuild(_client: EngineClient, names: Iterable[str], checkpoint: str) -> int:
        asked.append((tuple(names), checkpoint))
        return 9

    monkeypatch.setattr(EngineClient, "rebuild_cache", rebuild)
    monkeypatch.setattr(desk.session.cache, "_query", 5)
    starter = desk.session.checkpoints.starter
    found = (artifact("a", starter.name, 10), artifact("c", "", 5), artifact("d", "gone", 4))
    desk.client.cache_listed.emit(CacheListed(query=5, artifacts=found))

    def buttons() -> list[QPushButton]:
        every = (row.rebuild for row in section.cache.rows)
        return [button for button in every if not button.isHidden()]

    # What serves every model, or one that is gone, cannot be made for a model.
    (button,) = buttons()
    button.setFocus()
    button.click()
    assert asked == [(("a",), str(starter))]
    desk.client.cache_rebuilding.emit(CacheRebuilding(query=9, done=1, total=3))
    assert buttons()[0].text() == "Preparing… 33 %"
    button.click()
    assert len(asked) == 1
    error = ErrorInfo(ErrorCode.NOT_AVAILABLE, "Not now.")
    desk.client.query_failed.emit(QueryFailed(query=9, error=error))
    assert desk.session.notices.notices[-1].message == "Not now."
    assert buttons()[0].text() == "Rebuild"
    buttons()[0].click()
    desk.client.cache_listed.emit(CacheListed(query=9, artifacts=found[:1]))
    assert desk.session.cache.rebuilding is None
    assert len(desk.session.cache.models or ()) == 1
    # Who pressed it by the keyboard is still there.
    assert buttons() == [button]
    assert button.hasFocus()


def test_a_cached_model_has_its_buttons_below_its_words_where_these_are_narrow(desk: Desk) -> None:
    """The whole page of settings was wider than a small window, and its buttons were cut."""
    row = CacheRow(desk.session.cache)
    delete_after_test(row)
    row.show_model(CachedModel("a longer name than most", ("a",), 30, 1e9), "", Path("/a"))
    row.show_rebuilding()
    buttons = row.rebuild.sizeHint().width() + row.clear.sizeHint().width() + 3 * S
    assert row.minimumSizeHint().width() <= buttons
    assert row.heightForWidth(buttons + 60) > row.heightForWidth(600)
