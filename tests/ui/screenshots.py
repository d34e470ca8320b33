"""Pictures of the window's main states: `python -m tests.ui.screenshots FOLDER`.

Real widgets, the real engine, the starter; light and dark, small and large. Where there is no
display they are drawn off the screen.
"""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QPointF, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QImage, QKeySequence, QTextCursor
from PySide6.QtWidgets import QApplication

from app.__main__ import make_session
from app.commands.pack_rows import PackRow, PackStage
from app.commands.updates import UpdateStage
from app.downloads.entries import Purpose
from app.downloads.source import Source
from app.engine.process import EngineState
from app.paths import Paths
from app.session import Session
from engine.api.messages import JobPhase
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, Phase, SamplerName
from engine.metadata.png import TextChunk, insert_text_chunks
from tests.app.folders import folders_in
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.ui.devices import CHOICE, DEVICES
from tests.ui.packs import MACHINE, OPENVINO, ROWS, UPDATE
from ui.actions import ActionName
from ui.application import Application
from ui.main_window import MainWindow
from ui.models.page import ModelsPage
from ui.places import Place
from ui.settings.page import SettingsPage
from ui.theme.colours import CONTRAST, DARK, LIGHT
from ui.theme.theme import Theme

SIZES = ((960, 640), (1440, 900))
LOOKS = (("dark", DARK), ("light", LIGHT))
PROMPTS = (
    "a red house by the sea at night",
    "yellow balloon on the right, desert, sunset",
    "a white castle in the mountains by day",
    "a purple flower in the meadow, full moon",
    "an orange boat on the ocean at dusk",
)
ELSEWHERE = """(masterpiece:1.2), a red house by the sea <lora:seaside:0.8> at night
Negative prompt: blurry
Steps: 28, Sampler: DPM++ 2M SDE, Schedule type: Karras, CFG scale: 6.5, Seed: 12345, \
Size: 512x768, Model: portrait-mix-v4, VAE: vae-ft-mse-840000.safetensors, Clip skip: 2, \
ENSD: 31337, Hires upscale: 2, Hires upscaler: R-ESRGAN 4x+, Variation seed: 77, \
Variation seed strength: 0.3, ControlNet 0: "Module: canny, Weight: 1", Tiling: True, RNG: NV, \
ADetailer model: face_yolov8n.pt, Emphasis: No norm, Version: v1.10.1"""
CARD = """{"baseModel": "Illustrious", "trainedWords": ["masterpiece", "very aesthetic"],
 "name": "v2.0", "model": {"name": "Illustrious XL"}}"""
LORA_CARD = """{"trainedWords": ["inkwash", "sumi-e brush strokes", "wet paper"]}"""
# Names, and the width of the context that each is for.
LORAS = {
    "ink wash": 768,
    "lcm-lora-sdv1-5": 768,
    "masterpiece xl": 2048,
    "pixel art": 768,
    "watercolour": 768,
    "charcoal": 768,
}
PATIENCE_S = 900
_LOOK_S = 0.01
_ROUNDS = 5


class Photographer:
    """Brings a window into states and saves what it looks like in each."""

    def __init__(
        self,
        application: QApplication,
        folder: Path,
        private: Path,
        make: Callable[[Paths], Session] = make_session,
    ) -> None:
        self.folder = folder
        self.private = private
        self.theme = Theme(application)
        paths = msgspec.structs.replace(folders_in(private), output=private / "pictures")
        self.session: Session = make(paths)
        self.window = MainWindow(self.session, self.theme)
        self.window.resize(*SIZES[1])
        self.window.show()

    def save(self, state: str) -> None:
        """One state in both looks and both sizes."""
        for look, colours in LOOKS:
            self.theme.use_colours(colours)
            for width, height in SIZES:
                self.window.resize(width, height)
                self.settle()
                name = f"{state}-{look}-{width}x{height}.png"
                self.window.grab().save(str(self.folder / name))
                print(name, flush=True)  # noqa: T201

    def settle(self, seconds: float = 0.5) -> None:
        """Let what was begun arrive: layouts, thumbnails, pictures of the new size."""
        self.theme.finish()
        loop = QEventLoop()
        QTimer.singleShot(round(seconds * 1000), loop.quit)
        loop.exec()
        # On a busy machine the time may pass in one event: what it began is to be laid out, too.
        for _ in range(_ROUNDS):
            QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def wait_for(self, what: str, condition: Callable[[], bool]) -> None:
        """Let events happen until something is so."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(what)
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
            # Without events that returns at once, and the engine needs the processor.
            time.sleep(_LOOK_S)

    def is_ready(self) -> bool:
        """True if the engine is ready."""
        return self.session.engine.state is EngineState.READY

    def wait_for_jobs(self, count: int) -> None:
        """Until so many jobs were submitted in all, and every one is over."""

        def are_over() -> bool:
            jobs = self.session.queue.jobs
            return len(jobs) == count and all(job.state.is_over for job in jobs)

        self.wait_for("jobs", are_over)


def first_start(photographer: Photographer) -> None:
    """Before the engine is ready, and after."""
    photographer.save("1-first-start")
    photographer.session.start()
    photographer.wait_for("engine", photographer.is_ready)
    photographer.settle(1)
    photographer.save("2-ready")


def generating(photographer: Photographer) -> None:
    """A long job with a preview, others waiting; then a strip of results."""
    session = photographer.session
    for prompt in PROMPTS[1:]:
        session.generation.prompt = prompt
        session.jobs.generate()
    photographer.wait_for_jobs(4)
    session.generation.prompt = PROMPTS[0]
    session.generation.steps = 1000
    session.generation.count = 3
    session.jobs.generate()
    photographer.wait_for("preview", lambda: is_developing(session, 300))
    photographer.save("3-generating")
    photographer.window.actions_by_name[ActionName.QUEUE].trigger()
    photographer.save("28-queue")
    photographer.window.actions_by_name[ActionName.QUEUE].trigger()
    photographer.window.create_page.sides.fold()
    photographer.save("29-folded")
    photographer.window.create_page.sides.fold()
    session.jobs.cancel_all()
    photographer.settle()
    photographer.save("30-toast")
    photographer.wait_for_jobs(7)
    session.generation.clear_choices()
    session.generation.count = 1
    session.jobs.generate()
    photographer.wait_for_jobs(8)
    photographer.settle()
    photographer.save("4-result")


def is_developing(session: Session, steps: int) -> bool:
    """True if the running job is past this number of steps."""
    return session.progress.phase is Phase.DENOISE and session.progress.done > steps


def settings_of_a_picture(photographer: Photographer) -> None:
    """An earlier picture, with its settings in the form."""
    session = photographer.session
    path = session.output_pictures[3].path
    session.view.choose(path)
    session.pictures.use_settings(Path(path))
    photographer.settle(1)
    photographer.save("5-use-settings")


def prompts_with_remarks(photographer: Photographer) -> None:
    """Hints at both prompts; then one that goes beyond what diffusers reads; then the lists."""
    session, form = photographer.session, photographer.window.form
    before = session.generation.build_request()
    session.generation.prompt = f"(best:1.2), {PROMPTS[0]} <lora:seaside:0.8> and ((stars"
    session.generation.negative_prompt = "blurry, __weather__"
    photographer.wait_for("hints", lambda: bool(session.prompts.negative.hints))
    photographer.settle(1)
    photographer.save("9-hints")
    session.generation.negative_prompt = ""
    session.generation.prompt = ", ".join(PROMPTS * 3)
    session.generation.convention = ConventionName.DIFFUSERS
    photographer.wait_for("count", lambda: session.prompts.prompt.check.is_cut)
    form.prompt.moveCursor(QTextCursor.MoveOperation.End)
    photographer.save("10-cut-off")
    session.generation.load_request(before)


def start_pictures(photographer: Photographer) -> None:
    """A picture to start from, a mask painted on it, and what becomes of that."""
    session, form = photographer.session, photographer.window.form
    before = session.generation.build_request()
    path = session.output_pictures[0].path
    session.view.choose(path)
    form.inputs.start_from(path)
    photographer.wait_for("start", lambda: bool(session.generation.inputs))
    photographer.save("18-start")
    session.view.painting = True
    paint = photographer.window.canvas.paint
    assert paint is not None
    photographer.wait_for("start picture", lambda: not paint.layer.mask.isNull())
    for start, end in (((150, 40), (90, 60)), ((90, 60), (160, 90))):
        paint.layer.line(QPointF(*start), QPointF(*end), 32, erases=False)
    paint.layer.finish()
    photographer.wait_for("masked", lambda: len(session.generation.inputs) == 2)
    photographer.save("19-mask")
    paint.act(ActionName.GROW)
    paint.layer.grow((0, 0, 96, 0))
    photographer.save("20-grown")
    session.generation.load_request(before)


def picture_of_another_tool(photographer: Photographer) -> None:
    """A picture that brings more than can be taken over."""
    session, form = photographer.session, photographer.window.form
    path = photographer.private / "elsewhere.png"
    text = TextChunk("parameters", ELSEWHERE)
    photographer.window.grab().save(str(path))
    path.write_bytes(insert_text_chunks(path.read_bytes(), [text]))
    session.open_file(path)
    photographer.wait_for("remarks", lambda: bool(session.notices.notices))
    photographer.settle(1)
    photographer.save("11-another-tool")
    form.verticalScrollBar().setValue(form.verticalScrollBar().maximum())
    photographer.save("12-another-tool-below")
    form.verticalScrollBar().setValue(0)
    session.notices.dismiss(session.notices.notices[-1].number)
    session.generation.load_request(GenerateRequest(prompt=PROMPTS[0]))


def failures(photographer: Photographer) -> None:
    """A file that is no checkpoint, and a job that fails for it."""
    session = photographer.session
    broken = photographer.private / "portrait-mix-v4.safetensors"
    broken.write_bytes(b"<!DOCTYPE html><html>Please log in</html>")
    session.open_file(broken)
    session.generation.clear_choices()
    session.jobs.generate()
    photographer.wait_for("failure", lambda: bool(session.notices.notices))
    photographer.settle()
    photographer.save("6-failure")
    session.notices.dismiss(session.notices.notices[-1].number)
    session.generation.checkpoint = session.checkpoints.starter


def gaps_of_a_checkpoint(photographer: Photographer) -> None:
    """A checkpoint without its VAE, files that fit, and all that is known of it."""
    session = photographer.session
    whole = listings.sdxl()
    names = {name: shape for name, shape in whole.items() if not name.startswith(listings.VAE)}
    models = session.checkpoints.models
    (models / "vae").mkdir(parents=True)
    path = write_sparse(models / "illustriousXL_v20.safetensors", names)
    write_sparse(models / "vae" / "sdxl_vae_fp16_fix.safetensors", listings.ldm_vae())
    write_sparse(models / "vae" / "vae-ft-mse-840000.safetensors", listings.ldm_vae())
    write_sparse(models / "ponyDiffusionV6XL.safetensors", whole)
    path.with_suffix(".civitai.info").write_text(CARD)
    write_sparse(models / "sd_xl_refiner_1.0.safetensors", whole)
    session.checkpoint.open(path)
    photographer.wait_for("gaps", lambda: bool(photographer.window.form.checkpoint.gaps.rows))
    photographer.save("15-gaps")
    dialog = photographer.window.form.checkpoint.show_details()
    for look, colours in LOOKS:
        photographer.theme.use_colours(colours)
        photographer.settle()
        dialog.grab().save(str(photographer.folder / f"16-checkpoint-{look}.png"))
    dialog.accept()
    photographer.window.form.checkpoint.gaps.rows[0].use.click()
    photographer.wait_for("parts", lambda: not photographer.window.form.checkpoint.gaps.rows)
    photographer.save("17-parts-given")
    session.generation.checkpoint = session.checkpoints.starter


def loras(photographer: Photographer) -> None:
    """LoRAs in the form, one of them for another model; then the list of all files."""
    session, form = photographer.session, photographer.window.form
    before = session.generation.build_request()
    write_loras(session.checkpoints.models)
    session.loras.refresh()
    photographer.wait_for(
        "loras", lambda: len(session.loras.loras) == len(LORAS) and not session.loras.is_listing
    )
    for info in sorted(session.loras.loras, key=lambda info: info.name)[1:4]:
        session.lora.add(info.path)
    session.lora.change(0, strength=0.6, text_strength=0.3)
    session.generation.prompt = f"{PROMPTS[0]}, inkwash <lora:seaside:0.8>"
    photographer.settle()
    form.ensureWidgetVisible(form.loras.add, 0, 40)
    photographer.save("21-loras")
    dialog = form.loras.browse()
    for look, colours in LOOKS:
        photographer.theme.use_colours(colours)
        photographer.settle()
        dialog.grab().save(str(photographer.folder / f"22-lora-files-{look}.png"))
    dialog.accept()
    session.generation.load_request(before)
    form.verticalScrollBar().setValue(0)


def write_loras(models: Path) -> None:
    """Put LoRA files of several kinds into the usual folder, some with a card and a picture."""
    folder = models / "Lora"
    folder.mkdir(parents=True)
    for number, (name, width) in enumerate(LORAS.items()):
        layer = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"
        shapes = {f"{layer}.lora_down.weight": (8, width), f"{layer}.lora_up.weight": (640, 8)}
        path = write_sparse(folder / f"{name}.safetensors", shapes)
        if number % 2 == 0:
            path.with_suffix(".civitai.info").write_text(LORA_CARD)
            image = QImage(160, 200, QImage.Format.Format_RGB32)
            image.fill(QColor.fromHsv(number * 40, 140, 170))
            image.save(str(path.with_suffix(".preview.png")))


def troubled_engine(photographer: Photographer) -> None:
    """An engine that hangs, and one that is dragged something to."""
    session = photographer.session
    hello = session.process.hello
    assert hello is not None
    os.kill(hello.pid, signal.SIGSTOP)
    hangs = EngineState.NOT_ANSWERING
    photographer.wait_for("not answering", lambda: session.engine.state is hangs)
    photographer.save("7-not-answering")
    os.kill(hello.pid, signal.SIGCONT)
    photographer.wait_for("engine", photographer.is_ready)
    for state, name in (("8-drop", "mix.safetensors"), ("8-drop-picture", "photo.jpg")):
        overlay = photographer.window.drops.overlay
        offers = photographer.window.drops.offers(Path(name))
        overlay.appear([(offer.title, offer.sentence) for offer in offers])
        overlay.point_at(overlay.cards[-1].geometry().center())
        photographer.save(state)
    photographer.window.drops.overlay.hide()


def preparing(photographer: Photographer) -> None:
    """Show the notice of a card whose compiler takes a while."""
    session = photographer.session
    session.view.follow()
    session.progress.begin("a")
    event = JobPhase(job="a", phase=Phase.COMPILE, expected_s=40.0, after_s=9.0, once=True)
    session.progress.on_phase(event)
    photographer.settle(6)
    photographer.save("13-preparing")
    session.progress.end("a")


def devices(photographer: Photographer) -> None:
    """The list of devices, of a machine that is not here."""
    state = photographer.session.devices
    state.choice, state.devices = CHOICE, DEVICES
    photographer.save("13-device")
    dialog = photographer.window.windows.show_devices()
    for look, colours in LOOKS:
        photographer.theme.use_colours(colours)
        photographer.settle()
        dialog.grab().save(str(photographer.folder / f"14-devices-{look}.png"))
    dialog.accept()


def runtimes(photographer: Photographer) -> None:
    """Packs of a machine that is not here: offered, on their way, in use, refused."""
    session, window = photographer.session, photographer.window
    session.devices.machine = MACHINE
    session.devices.checking = False
    # What this machine has must not take the place of what is drawn.
    session.packs._shelf = None  # pyright: ignore[reportPrivateUsage]
    offered = msgspec.structs.replace(OPENVINO, stage=PackStage.AVAILABLE, installed="")
    show_packs(session, offered)
    photographer.wait_for("offer", window.offer.isVisible)
    photographer.save("22-offer")
    dialog = window.windows.show_runtimes()
    dialog.others_shown.setChecked(True)
    show_packs(session, *ROWS)
    photographer.save("23-installing")
    dialog.resize(680, 980)
    for look, colours in LOOKS:
        photographer.theme.use_colours(colours)
        photographer.settle()
        dialog.grab().save(str(photographer.folder / f"24-runtimes-{look}.png"))
    dialog.accept()


def show_packs(session: Session, *rows: PackRow) -> None:
    """Have the window draw these packs."""
    session.packs.rows = rows
    session.packs.changed.emit()


def downloads_and_updates(photographer: Photographer) -> None:
    """A download that was paused, and a version that is offered."""
    session, window = photographer.session, photographer.window
    source = Source("http://127.0.0.1:1/a.whl", (), "a.whl", 59_000_000, "0" * 64)
    folder = photographer.private / "wheels"
    session.downloads.pause(session.downloads.add("OpenVINO", Purpose.PACK, (source,), folder))
    session.updates.state.offer = UPDATE
    session.updates.state.stage = UpdateStage.OFFERED
    photographer.settle(2)
    for number, dialog in (
        (25, window.windows.show_downloads()),
        (26, window.windows.show_updates()),
    ):
        for look, colours in LOOKS:
            photographer.theme.use_colours(colours)
            photographer.settle()
            name = type(dialog).__name__.removesuffix("Dialog").lower()
            dialog.grab().save(str(photographer.folder / f"{number}-{name}-{look}.png"))
        dialog.accept()


def models(photographer: Photographer) -> None:
    """The user's models, one of them with settings that were used with it; links; folders."""
    session, window = photographer.session, photographer.window
    name = "ponyDiffusionV6XL.safetensors"
    session.checkpoint.choose(session.checkpoints.models / name)
    session.generation.steps, session.generation.sampler = 28, SamplerName.DPMPP_2M
    session.generation.width, session.generation.height = 832, 1216
    session.checkpoint.choose(session.checkpoints.starter)
    window.places.open(Place.MODELS)
    (page,) = window.findChildren(ModelsPage)
    store = session.models.store
    photographer.wait_for(
        "models", lambda: bool(store.models) and all(model.is_read for model in store.models)
    )
    (chosen,) = (model.path for model in store.models if model.path.endswith(name))
    page.yours.choose(chosen)
    for view, state in enumerate(("31-models", "32-get-models", "33-folders")):
        page.show_view(view)
        photographer.save(state)
    window.places.open(Place.CREATE)


def gallery(photographer: Photographer) -> None:
    """The pictures of all folders."""
    photographer.window.places.open(Place.GALLERY)
    photographer.settle(3)
    photographer.save("34-gallery")
    photographer.window.places.open(Place.CREATE)


def settings(photographer: Photographer) -> None:
    """Each section of the settings, a search, and a key that another action has."""
    window = photographer.window
    window.places.open(Place.SETTINGS)
    (page,) = window.findChildren(SettingsPage)
    for number in range(len(page.sections)):
        page.navigation.setCurrentRow(number)
        photographer.save(f"27-settings-{number}")
    page.search.setText("prompt")
    photographer.save("28-settings-found")
    page.search.clear()
    page.shortcuts.rows[ActionName.GENERATE].want(QKeySequence("Ctrl+O"))
    page.show_shortcuts()
    photographer.save("29-settings-key")
    photographer.theme.use_colours(CONTRAST)
    photographer.settle()
    window.grab().save(str(photographer.folder / "30-contrast-settings.png"))
    window.places.open(Place.CREATE)
    photographer.settle()
    window.grab().save(str(photographer.folder / "30-contrast-create.png"))


def main(folder: Path) -> None:
    """Save them all."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = Application()
    with tempfile.TemporaryDirectory() as private:
        photographer = Photographer(application, folder, Path(private))
        try:
            for state in (
                first_start,
                generating,
                preparing,
                settings_of_a_picture,
                start_pictures,
                prompts_with_remarks,
                picture_of_another_tool,
                failures,
                gaps_of_a_checkpoint,
                loras,
                troubled_engine,
                devices,
                runtimes,
                downloads_and_updates,
                models,
                gallery,
                settings,
            ):
                state(photographer)
        finally:
            photographer.session.close()
            photographer.window.close_background()
    QGuiApplication.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/screenshots"))
