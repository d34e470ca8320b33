"""Everything that made a picture can be read, selected and copied, whoever wrote it."""

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.paths import starter_checkpoint
from engine.api.control import ControlLayer, ControlMode
from engine.api.image_prompts import AdapterBlocks, ImagePrompt
from engine.api.masks import MaskedContent, MaskOptions
from engine.api.preprocessors import CannyOptions
from engine.api.record import GenerationRecord
from engine.api.request import InputImage
from engine.api.second_passes import SecondPass
from engine.api.values import InputRole
from engine.metadata.png import TextChunk, insert_text_chunks
from engine.metadata.record import record_chunks
from tests.app.fake_engine import Plan
from tests.app.supervised import PATIENCE_MS
from tests.metadata.records import PLAIN, PNG
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from ui.actions import ActionName
from ui.picture_facts import Fact, read_facts, seen
from ui.theme.theme import Theme
from ui.widgets.picture_details import FactRow, PictureDetails

A1111 = """a castle, <lora:seaside:0.8>
Negative prompt: blurry
Steps: 28, Sampler: DPM++ 2M SDE, Schedule type: Karras, CFG scale: 6.5, Seed: 12345, \
Size: 512x768, Model: portrait-mix-v4, Face restoration: CodeFormer, Version: v1.10.1"""


def ours(path: Path, **changes: object) -> str:
    record: GenerationRecord = msgspec.structs.replace(PLAIN, **changes)
    path.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    return str(path)


def facts_of(path: str, seconds: float | None = None) -> dict[str, str]:
    return {fact.label: fact.text for fact in read_facts(path, seconds)}


def test_our_own_picture_tells_everything(tmp_path: Path) -> None:
    path = ours(tmp_path / "a.png", checkpoint_sha256="c0ffee" * 10)
    facts = facts_of(path, 41.0)
    wanted = {
        "Prompt": "a cat, (masterpiece:1.2)",
        "Negative prompt": "blurry",
        "Model": "dream v1.5",
        "Model hash": "c0ffeec0ff",
        "Steps": "20",
        "Sampler": "DPM++ 2M",
        "Schedule": "Karras",
        "Guidance": "7",
        "Seed": "965400086",
        "Made with": "Safelight 0.1.0",
        "Results as in": "AUTOMATIC1111",
        "Device": "cpu:0 · ONNX Runtime · f32",
        "Time taken": "40 s",
        "File": path,
    }
    assert {name: facts[name] for name in wanted} == wanted
    assert "512" in facts["Size"]
    assert "LoRAs" not in facts
    assert "Options" not in facts


def test_masks_layers_and_passes_are_told(tmp_path: Path) -> None:
    request = msgspec.structs.replace(
        PLAIN.request,
        inputs=(
            InputImage(role=InputRole.INIT, path="/a/photo.png"),
            InputImage(role=InputRole.MASK, path="/a/mask.png"),
        ),
        mask_options=MaskOptions(
            only_masked=True, padding=96, blur=4, inverted=True, content=MaskedContent.FILL
        ),
        controls=(
            ControlLayer(
                image="/a/street.png",
                network="/m/control_canny.safetensors",
                preprocessor=CannyOptions(),
                weight=0.8,
                range=(0.0, 0.6),
                mode=ControlMode.CONTROL,
            ),
            ControlLayer(image="/a/pose.png", network="pose", enabled=False),
        ),
        image_prompts=(
            ImagePrompt(image="/a/face.png", adapter="ip.bin", mask="/a/left.png"),
            ImagePrompt(image="/a/sky.png", blocks=AdapterBlocks.STYLE),
        ),
        second_passes=(
            SecondPass(steps=8, tile=512),
            SecondPass(width=2048, height=1024),
            SecondPass(width=768),
        ),
    )
    facts = facts_of(ours(tmp_path / "a.png", request=request))
    told = "only the part, with a margin of 96 · soft edge 4 · inverted · begins with: "
    assert facts["Redrawn part"] == told + "The colours around it"
    line = "control_canny · Canny · street.png · weight 0.8 · from 0 to 60 % of the steps"
    assert facts["Control layers"] == f"{line} · The map is more important"
    lines = "ip · face.png · weight 1 · within left.png\nsky.png · weight 1 · Style only"
    assert facts["Image prompts"] == lines
    first, second, third = facts["Second passes"].split("\n")
    assert first == "2 times · Latent · strength 0.7 · 8 steps · in tiles of 512"
    assert second.endswith("Latent · strength 0.7")
    assert "2,048" in second or "2048" in second
    assert third.startswith("768 wide · ")


def test_a_mask_that_is_not_there_is_not_told(tmp_path: Path) -> None:
    inputs = (InputImage(role=InputRole.INIT, path="/a/photo.png"),)
    options = MaskOptions(blur=4)
    request = msgspec.structs.replace(PLAIN.request, inputs=inputs, mask_options=options)
    assert "Redrawn part" not in facts_of(ours(tmp_path / "a.png", request=request))
    grown = msgspec.structs.replace(request, mask_options=MaskOptions(expand=(0, 64, 0, 8)))
    told = facts_of(ours(tmp_path / "a.png", request=grown))["Redrawn part"]
    assert told == "grown by 0 left, 64 at the top, 0 right, 8 at the bottom"


def test_the_starter_is_called_by_its_name(tmp_path: Path) -> None:
    request = msgspec.structs.replace(PLAIN.request, checkpoint=str(starter_checkpoint()))
    assert facts_of(ours(tmp_path / "a.png", request=request))["Model"] == "Safelight starter"


def test_another_tools_picture_tells_what_it_can(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(insert_text_chunks(PNG, [TextChunk("parameters", A1111)]))
    facts = facts_of(str(path))
    assert facts["Model"] == "portrait-mix-v4"
    assert facts["Made with"] == "AUTOMATIC1111"
    assert facts["Face restoration"] == "CodeFormer"
    assert facts["Seed"] == "12345"


@pytest.mark.parametrize("content", [b"", PNG, b"\x89PNG\r\n\x1a\n", b"<html>"])
def test_a_picture_that_tells_nothing_has_the_facts_of_its_file(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    assert facts_of(str(path))["File"] == str(path)
    assert read_facts("\0") == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>bold</b>", "<b>bold</b>"),
        ("a\u202egnp.evil\0\x07", "agnp.evil"),
        ("one\r\ntwo\tthree ", "one\ntwo three"),
        ("شب \u2067x\u2069", "شب x"),
        ("x" * 30_000, "x" * 20_000),
    ],
)
def test_unseen_characters_of_a_text_are_left_out(text: str, shown: str) -> None:
    assert seen(text) == shown


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_each_fact_is_copied_by_its_button(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    details = PictureDetails(theme)
    qtbot.addWidget(details)
    details.resize(280, 600)
    details.show()
    prompt = "a very long prompt, " * 40
    request = msgspec.structs.replace(PLAIN.request, prompt=prompt)
    facts = read_facts(ours(tmp_path / "a.png", request=request))
    details.show_facts(facts)
    qtbot.waitUntil(lambda: bool(details.rows))
    for fact, row in zip(facts, details.rows, strict=True):
        row.copy.click()
        assert QGuiApplication.clipboard().text() == fact.text
        assert row.value.toPlainText() == fact.text
    # All of the prompt is visible, in the width of the pane.
    first = details.rows[0].value
    qtbot.waitUntil(
        lambda: first.height() > 10 * first.fontMetrics().lineSpacing(), timeout=PATIENCE_MS
    )
    assert details.rows[-1].width() <= 280
    details.copy_all.click()
    assert prompt.strip() in QGuiApplication.clipboard().text()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_rest_of_a_long_value_is_shown_on_demand_and_always_copied(
    qtbot: QtBot, theme: Theme
) -> None:
    details = PictureDetails(theme)
    qtbot.addWidget(details)
    details.resize(280, 600)
    details.show()
    long = Fact("Workflow", "node " * 2000)
    details.show_facts((Fact("Prompt", "a cat"), long))
    short, row = details.rows
    assert not short.more.isVisible()
    assert row.value.toPlainText() == f"{long.text[:4000]}…"
    assert row.more.text() == f"Show all {QLocale().toString(10_000)} characters"
    row.copy.click()
    assert QGuiApplication.clipboard().text() == long.text
    height = row.value.height()
    QTest.mouseClick(row.more, Qt.MouseButton.LeftButton)
    assert row.value.toPlainText() == long.text
    assert not row.more.isVisible()
    qtbot.waitUntil(lambda: row.value.height() > 2 * height, timeout=PATIENCE_MS)
    # Another picture's value begins short again.
    details.show_facts((Fact("Prompt", "b" * 5000), Fact("Seed", "1")))
    assert details.rows[0].more.isVisible()
    assert not details.rows[1].more.isVisible()


def test_the_pane_follows_the_picture_and_is_kept(desk: Desk, tmp_path: Path) -> None:
    panel, action = desk.window.canvas.details, desk.window.actions_by_name[ActionName.DETAILS]
    desk.session.view.choose(ours(tmp_path / "a.png"))
    assert not panel.isVisible()
    action.trigger()
    assert panel.isVisible()
    desk.wait(lambda: bool(panel.details.rows))
    assert unnamed(desk.window) == []
    assert desk.session.memory.layout.details
    request = msgspec.structs.replace(PLAIN.request, prompt="another")
    desk.session.view.choose(ours(tmp_path / "b.png", request=request))
    desk.wait(lambda: panel.details.rows[0].value.toPlainText() == "another")
    action.trigger()
    assert not panel.isVisible()


def test_a_picture_of_this_session_tells_its_time(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(steps=2)).start()
    desk.window.actions_by_name[ActionName.DETAILS].trigger()
    desk.session.jobs.generate()
    desk.wait_for_jobs(1)
    panel = desk.window.canvas.details
    desk.wait(lambda: "Time taken" in [row.value.accessibleName() for row in panel.details.rows])


def test_the_line_below_the_picture_names_the_model(desk: Desk, tmp_path: Path) -> None:
    desk.session.view.choose(ours(tmp_path / "a.png"))
    desk.wait(lambda: desk.window.info.detail.text().startswith("dream v1.5 · "))


def test_another_picture_is_told_in_the_rows_that_are_there(
    tmp_path: Path, theme: Theme, qtbot: QtBot
) -> None:
    """To make rows takes longer than a frame, and each step in the viewer shows others."""
    pane = PictureDetails(theme)
    qtbot.addWidget(pane)
    first = read_facts(ours(tmp_path / "a.png"), 41.0)
    pane.show_facts(first)
    qtbot.waitUntil(lambda: bool(pane.rows))
    rows = tuple(pane.rows)
    (tmp_path / "b.png").write_bytes(PNG)
    second = read_facts(str(tmp_path / "b.png"), None)
    assert 0 < len(second) < len(first)
    pane.show_facts(second)
    assert tuple(pane.rows) == rows[: len(second)]
    assert [row.value.toPlainText() for row in pane.rows] == [fact.text for fact in second]
    assert [row.value.accessibleName() for row in pane.rows] == [fact.label for fact in second]
    assert [row.isHidden() for row in rows] == [row not in pane.rows for row in rows]
    pane.rows[-1].copy.click()
    assert QGuiApplication.clipboard().text() == second[-1].text
    pane.show_facts(first)
    assert tuple(pane.rows) == rows
    assert not any(row.isHidden() for row in rows)


def test_rows_are_there_before_the_first_picture(qtbot: QtBot, theme: Theme) -> None:
    # Made as a picture is shown, they would take longer than a frame.
    details = PictureDetails(theme)
    qtbot.addWidget(details)
    details.make_rows()
    qtbot.waitUntil(lambda: len(details.findChildren(FactRow)) == 12)
    assert not details.rows
    before = details.findChildren(FactRow)
    details.show_facts([Fact("Seed", "7"), Fact("Steps", "20")])
    assert details.findChildren(FactRow) == before
    assert [row.value.toPlainText() for row in details.rows] == ["7", "20"]
    assert [row.isHidden() for row in before] == [False, False] + [True] * (len(before) - 2)


def test_many_rows_are_made_in_slices_and_the_facts_before_stay_meanwhile(
    qtbot: QtBot, theme: Theme
) -> None:
    details = PictureDetails(theme)
    qtbot.addWidget(details)
    details.show_facts([Fact("Seed", "7")])
    facts = [Fact(f"Fact {number}", f"{number}") for number in range(20)]
    details.show_facts(facts)
    assert [row.value.toPlainText() for row in details.rows] == ["7"]
    assert len(details.findChildren(FactRow)) == 1
    # Of two pictures it is the later one that is shown at the end.
    later = [Fact("Steps", "30"), *facts]
    details.show_facts(later)
    qtbot.waitUntil(lambda: len(details.rows) > 1)
    assert [row.value.toPlainText() for row in details.rows] == [fact.text for fact in later]
    assert not any(row.isHidden() for row in details.rows)


def test_few_facts_are_shown_at_once_while_rows_are_made(qtbot: QtBot, theme: Theme) -> None:
    details = PictureDetails(theme)
    qtbot.addWidget(details)
    details.show_facts([Fact(f"Fact {number}", f"{number}") for number in range(20)])
    few = [Fact("Seed", "7"), Fact("Steps", "20")]
    details.show_facts(few)
    assert [row.value.toPlainText() for row in details.rows] == ["7", "20"]
    qtbot.waitUntil(lambda: len(details.findChildren(FactRow)) == 12)
    assert [row.value.toPlainText() for row in details.rows] == ["7", "20"]
    details.show_facts(())
    assert details.rows == []
