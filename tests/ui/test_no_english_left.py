"""Every place, dialog and state of the window in the pseudo-language: no text is left English.

The pseudo-language accents every letter, so a word without accents is one that nothing translates.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QMenu

from app.form.presets import PresetPart
from app.notices.kinds import KINDS
from app.queue.jobs import JobState
from app.settings.values import Language
from engine.api.embeddings import EmbeddingInfo
from engine.api.prompts import Hint, HintKind
from engine.api.remedies import MakeSmaller
from engine.api.request import NO_OVERRIDE, CheckpointOverride
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo, PredictionType, SamplerName, ScheduleName
from engine.families.identify import identify
from engine.pipeline.inspection import inspect
from tests.app.fake_engine import Plan
from tests.app.loras import BROKEN, FAST, HUGE, INK, lora
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.devices import CHOICE, DEVICES
from tests.ui.finished import finish
from tests.ui.gallery.conftest import PROMPTS, Shown
from tests.ui.kept_language import kept_language
from tests.ui.packs import MACHINE, ROWS, UPDATE
from tests.ui.shown_texts import shown_texts
from ui.actions import RATING, ActionName
from ui.dialogs.device_dialog import DeviceDialog
from ui.dialogs.runtimes_dialog import RuntimesDialog
from ui.first_postcards import POSTCARDS
from ui.gallery.filter_button import FilterButton
from ui.labels import hint_text
from ui.languages.use import use_language
from ui.method_labels import TRANSLATED_LABELS
from ui.models.page import ModelsPage
from ui.places import Place

# The windows that dialogs open come to the front.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

_BY_SIGNAL = Qt.ContextMenuPolicy.CustomContextMenu
WORD = re.compile(r"[A-Za-z]{3,}")
# Addresses, words of drivers in quotes, paths, names of files, marks of a prompt and of a file's
# name, keys, and HTML.
AS_THEY_ARE = re.compile(
    r"https?://\S+|(?<!<)/[\w./\u200b-]+"
    r"|[\w\u200b-]+\.(png|toml|safetensors|pt|civitai.info|pythonhosted.org)\b"
    r"|\{\w+\}|“[^”]*”|__\w+__|<lora:[^>]*>|</?(qt|br)>|SAFELIGHT_\w+"
    r"|\b((Ctrl|Shift|Alt)\+)+\S+|\b(Esc|Del|Enter|Home|Left|Right|Alt|Ctrl|Shift)\b"
)
# Names of products, makers, hardware, layers, licences, languages and units.
NAMES = set(
    re.findall(
        WORD,
        """Safelight Civitai Hugging Face ComfyUI AUTOMATIC InvokeAI diffusers Stable Diffusion
        SDXL LoRA LoRAs VAE CLIP UNet CFG DreamShaper Animagine CreativeML
        OpenRAIL Fair AI Public License Software Licence Apache MIT github.com
        huggingface.co
        NVIDIA nvidia GeForce RTX Intel UHD Graphics Gen Core AMD CUDA TensorRT OpenVINO ONNX
        Runtime
        WebGPU DirectML MIGraphX PyTorch Windows JPEG PNG WebP Deutsch English bytes
        OpenCLIP bigG Lightning EDM SHA pred ztsnr mid
        """,
    )
)
METHODS = {
    word
    for method in (*SamplerName, *ScheduleName)
    if method.label not in TRANSLATED_LABELS
    for word in WORD.findall(method.label)
}
# What the tests typed, and names of their files; families that the fake engine does not know.
NAMED = {
    "quiet",
    "harbour",
    "mine",
    "ink",
    "inkwash",
    "sumi",
    "brush",
    "huge",
    "lcm",
    "lora",
    "broken",
    "lightning",
}
FILES = {"dreamer", "output", "model", "animal", "sdxl", "for"}
PICTURES = (*PROMPTS, *(card.prompt for card in POSTCARDS))
# The system's, which the pseudo-language leaves as they are.
MONTHS = {QLocale.c().monthName(number) for number in range(1, 13)}
TYPED = NAMED | FILES | MONTHS | {word for text in PICTURES for word in WORD.findall(text)}


@pytest.fixture(autouse=True)
def _pseudo(qapp: QApplication) -> Iterator[None]:
    with kept_language(qapp):
        use_language(qapp, Language.SYSTEM, {"SAFELIGHT_LANGUAGE": "pseudo"})
        yield


def open_menus() -> None:
    """Fill the menus that are filled when they open, and open those of the right button."""
    for widget in QApplication.allWidgets():
        if isinstance(widget, QMenu):
            widget.aboutToShow.emit()
        elif widget.isVisible() and widget.contextMenuPolicy() is _BY_SIGNAL:
            widget.customContextMenuRequested.emit(QPoint())


def close_menus() -> None:
    while (menu := QApplication.activePopupWidget()) is not None:
        menu.close()


def english() -> set[str]:
    """The texts with words that nothing translates."""
    return {
        text
        for text in shown_texts()
        if set(WORD.findall(AS_THEY_ARE.sub(" ", text.replace("\u200b", ""))))
        - NAMES
        - METHODS
        - TYPED
    }


def with_hardware(desk: Desk) -> Desk:
    """Have the window draw a machine with several devices, and runtimes in every state."""
    session = desk.session
    session.devices.choice, session.devices.devices = CHOICE, DEVICES
    session.devices.machine = MACHINE
    session.packs._shelf = None  # pyright: ignore[reportPrivateUsage]
    worded = sentence("It is incomplete.")
    problem = ErrorInfo(ErrorCode.NOT_AVAILABLE, worded, worded)
    session.packs.rows = tuple(
        msgspec.structs.replace(
            row,
            reason="",
            gain_source="",
            summary="",
            needs="",
            problem=problem if row.problem else None,
        )
        for row in ROWS
    )
    session.packs.changed.emit()
    return desk


def test_a_word_that_nothing_translates_is_found(desk: Desk) -> None:
    assert english() == set()
    desk.window.canvas.setAccessibleName("Left as it was")
    assert english() == {"Left as it was"}


def test_the_form_the_queue_and_messages_are_translated(make_desk: MakeDesk) -> None:
    remedies = (MakeSmaller(width=512, height=512),)
    error = ErrorInfo(ErrorCode.OUT_OF_MEMORY, sentence("Not enough."), remedies=remedies)
    loras = (INK, FAST, HUGE)
    slow = Plan(loras=loras, reads_prompts=True, job_error=error, steps=1000, step_seconds=0.05)
    desk = with_hardware(make_desk(slow).start())
    desk.unfold()
    form = desk.session.generation
    form.prompt = "(quiet harbour:1.2) <lora:ink:1> __animal__"
    desk.session.lora.add(INK.path)
    form.width = form.height = 512
    form.seed, form.count = 3, 4
    desk.session.jobs.generate()
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    states = {JobState.FAILED, JobState.RUNNING, JobState.WAITING}
    desk.wait(lambda: {job.state for job in desk.queue.jobs} == states)
    assert english() == set()
    desk.session.jobs.cancel_all()
    assert english() == set()


def test_every_kind_of_failure_is_translated(desk: Desk) -> None:
    for code in KINDS:
        desk.session.notices.tell_error(ErrorInfo(code, sentence("It broke.")), job="x")
        assert english() == set()


def test_the_gallery_is_translated(desk: Desk) -> None:
    desk.window.places.open(Place.GALLERY)
    assert english() == set()
    shown = Shown(desk, PROMPTS)
    shown.choose(PROMPTS[0])
    assert english() == set()
    QTest.keyClick(shown.grid, Qt.Key.Key_Space)
    assert shown.page.viewer.isVisible()
    assert english() == set()
    shown.page.viewer.closed.emit()
    shown.choose(PROMPTS[0], PROMPTS[1])
    desk.window.actions_by_name[ActionName.COMPARE].trigger()
    assert english() == set()


def test_the_menus_are_translated(make_desk: MakeDesk) -> None:
    error = ErrorInfo(ErrorCode.BACKEND_FAILED, sentence("It broke."))
    desk = with_hardware(make_desk(Plan(job_error=error)).start())
    desk.window.actions_by_name[ActionName.QUEUE].trigger()
    desk.session.generation.prompt = "quiet harbour"
    desk.session.jobs.generate()
    desk.wait(lambda: {job.state for job in desk.queue.jobs} == {JobState.FAILED})
    open_menus()
    assert any(menu.isVisible() for menu in desk.window.findChildren(QMenu))
    assert english() == set()
    close_menus()
    shown = Shown(desk, PROMPTS)
    shown.choose(PROMPTS[0])
    open_menus()
    filters = desk.window.findChildren(FilterButton)
    assert all(button.menu().actions() for button in filters if button.isVisible())
    assert english() == set()
    close_menus()


def test_several_pictures_are_told_of(desk: Desk) -> None:
    shown = Shown(desk, PROMPTS)
    shown.choose(*PROMPTS)
    assert shown.page.details.rows
    desk.window.actions_by_name[RATING[3]].trigger()
    assert desk.session.notices.notices
    assert english() == set()


def test_the_evidence_of_a_checkpoint_is_translated(make_desk: MakeDesk, tmp_path: Path) -> None:
    desk = make_desk().start()
    form = desk.window.form
    names = {**listings.sdxl(), "v_pred": (0,), "ztsnr": (0,)}
    stated = write_sparse(tmp_path / "dreamer.safetensors", names)
    unlike = write_sparse(tmp_path / "brush-lightning.safetensors", listings.original())
    unlike.with_suffix(".civitai.info").write_text('{"baseModel": "SDXL 1.0"}')
    said = CheckpointOverride(prediction=PredictionType.SAMPLE)
    for path, override in ((stated, NO_OVERRIDE), (unlike, said)):
        info = inspect(identify(path, override=override), "0" * 64)
        assert len(info.evidence) > 3
        desk.session.checkpoints._keep(path, info)  # pyright: ignore[reportPrivateUsage]
        desk.session.generation.checkpoint = path
        dialog = form.checkpoint.show_details()
        assert english() == set()
        dialog.close()


def test_the_remarks_on_loras_and_embeddings_are_translated(make_desk: MakeDesk) -> None:
    web_page = sentence("{path} is not a {kind}.", path="ink.pt", kind=sentence("safetensors file"))
    broken = msgspec.structs.replace(BROKEN, problem=web_page)
    foreign = lora("sumi", families=(), purpose="a LoRA for an unknown kind of model")
    files = (INK, FAST, HUGE, broken, foreign)
    lone = EmbeddingInfo(name="mine", widths=(1280,), purpose="SDXL's second text encoder")
    odd = EmbeddingInfo(name="ink", widths=(640,), purpose="text encoders of width 640, 1280")
    desk = make_desk(Plan(loras=files, embeddings=(lone, odd), reads_prompts=True)).start()
    desk.session.loras.refresh()
    desk.wait(lambda: len(desk.session.loras.loras) == len(files))
    for info in files:
        desk.session.lora.add(info.path)
    dialog = desk.window.form.loras.browse()
    folders = dialog.show_folders()
    assert folders.isVisible()
    assert english() == set()


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("kind", HintKind)
def test_a_hint_at_a_prompt_is_translated(kind: HintKind) -> None:
    label = QLabel(hint_text(Hint(kind, 0, sentence("It broke."))))
    label.show()
    assert english() == set()


def test_the_models_are_translated(make_desk: MakeDesk) -> None:
    desk = with_hardware(make_desk().start())
    desk.window.places.open(Place.MODELS)
    page = desk.window.findChild(ModelsPage)
    assert page is not None
    for view in range(len(page.views.buttons())):
        page.show_view(view)
        assert english() == set()


def test_the_settings_are_translated(make_desk: MakeDesk) -> None:
    desk = with_hardware(make_desk().start())
    desk.window.places.open(Place.SETTINGS)
    assert english() == set()


@pytest.mark.parametrize("name", ["devices", "runtimes", "downloads", "updates"])
def test_the_windows_beside_are_translated(make_desk: MakeDesk, name: str) -> None:
    desk = with_hardware(make_desk().start())
    desk.session.updates.state.offer = UPDATE
    windows = desk.window.windows
    dialog: QDialog = getattr(windows, f"show_{name}")()
    if isinstance(dialog, DeviceDialog):
        dialog.section.all_shown.click()
    if isinstance(dialog, RuntimesDialog):
        dialog.others_shown.setChecked(True)
    finish(dialog)
    assert english() == set()


def test_the_dialogs_of_the_form_are_translated(make_desk: MakeDesk, tmp_path: Path) -> None:
    desk = make_desk(Plan(loras=(INK, FAST, HUGE))).start()
    form = desk.window.form
    desk.session.presets.save("mine", list(PresetPart))
    for show in (form.checkpoint.show_details, form.loras.browse, lambda: form.show_lists("")):
        dialog = show()
        assert english() == set()
        dialog.close()
    for action in (ActionName.PRESETS, ActionName.SAVE_PRESET, ActionName.EARLIER_PROMPTS):
        desk.window.actions_by_name[action].trigger()
        assert english() == set()
        for dialog in desk.window.findChildren(QDialog):
            dialog.close()
