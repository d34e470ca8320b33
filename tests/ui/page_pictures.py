"""Pictures of every page, also in high contrast, in German and mirrored, for FOLDER.

`python -m tests.ui.page_pictures FOLDER`, or `FOLDER german` for one variant, `FOLDER german
layers` for the pages of layers alone. Each is a process of its own, as a language is for all of
it. Real widgets, the real engine, the starter; at the size of a small laptop's screen, or of
SAFELIGHT_PICTURE_SIZE, such as 1440x900.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.settings.values import Language
from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.preprocessors import CannyOptions, DepthOptions, InvertOptions
from engine.api.second_passes import SecondPass
from tests.app.layers import ADAPTER, CANNY, CANNY_XL, DEPTH, MODELS, say_family
from tests.ui.screenshots import PROMPTS, Photographer, write_loras
from ui.actions import ActionName
from ui.application import Application
from ui.files.dialog import FileDialog
from ui.files.kinds import FileQuestion, kinds_of
from ui.gallery.page import GalleryPage
from ui.languages.use import use_language
from ui.models.page import ModelsPage
from ui.places import Place
from ui.settings.page import SettingsPage

_WIDTH, _HEIGHT = os.environ.get("SAFELIGHT_PICTURE_SIZE", "1280x720").split("x")
SIZE = (int(_WIDTH), int(_HEIGHT))


class Variant(NamedTuple):
    """A look and a language, as the variables of the environment name them."""

    look: str
    language: str


VARIANTS = {
    "dark": Variant("dark", "en"),
    "light": Variant("light", "en"),
    "contrast": Variant("contrast", "en"),
    "german": Variant("light", "de"),
    "mirrored": Variant("dark", "pseudo"),
}
_DIALOGS = (
    ActionName.DEVICES,
    ActionName.RUNTIMES,
    ActionName.DOWNLOADS,
    ActionName.MESSAGES,
    ActionName.UPDATES,
    ActionName.PRESETS,
    ActionName.SAVE_PRESET,
    ActionName.EARLIER_PROMPTS,
)


class Album:
    """The pages of one variant, photographed one after another."""

    def __init__(self, photographer: Photographer, name: str, size: tuple[int, int] = SIZE) -> None:
        """`size` is the window's, in logical pixels."""
        self._photographer, self._name, self._size = photographer, name, size
        self._window = photographer.window

    def keep(self, state: str, widget: QWidget | None = None, seconds: float = 0.6) -> None:
        """Save what the window, or another, looks like."""
        # A new window takes no more than the screen has, a moment after it is shown.
        self._window.resize(*self._size)
        self._photographer.settle(seconds)
        name = f"{state}-{self._name}.png"
        (widget or self._window).grab().save(str(self._photographer.folder / name))
        print(name, flush=True)  # noqa: T201

    def press(self, action: ActionName) -> None:
        """Do what an action does."""
        self._window.actions_by_name[action].trigger()

    def empty_pages(self) -> None:
        """The first run, and pages that have nothing to show."""
        session = self._photographer.session
        self.keep("a1-first-run")
        session.start()
        self._photographer.wait_for("engine", self._photographer.is_ready)
        self.keep("a2-first-run-ready", seconds=2)
        for state, place in (("a3-no-pictures", Place.GALLERY), ("a4-no-models", Place.MODELS)):
            self._window.places.open(place)
            self.keep(state, seconds=1.5)
        self._window.places.open(Place.CREATE)

    def begin(self) -> None:
        """Make one picture, for pages that show any."""
        session = self._photographer.session
        session.start()
        self._photographer.wait_for("engine", self._photographer.is_ready)
        session.jobs.generate()
        self._photographer.wait_for_jobs(1)

    def create(self) -> None:
        """A result, everything that folds open, and the queue."""
        session, window = self._photographer.session, self._window
        for prompt in PROMPTS:
            session.generation.prompt = prompt
            session.jobs.generate()
        self._photographer.wait_for_jobs(len(PROMPTS))
        self.keep("b1-result", seconds=1.5)
        advanced = window.form.advanced
        for section in (advanced.section, *advanced.rows.sections.values()):
            section.open()
        bar = window.form.verticalScrollBar()
        for number in range(1, 5):
            self._photographer.settle(0.3)
            bar.setValue(bar.maximum() * (number - 1) // 3)
            self.keep(f"b2-advanced-{number}")
        advanced.section.open(False)
        self.press(ActionName.DETAILS)
        self.press(ActionName.QUEUE)
        self.keep("b3-queue-and-details")
        self.press(ActionName.QUEUE)
        self.press(ActionName.DETAILS)

    def layers(self) -> None:
        """Cards of layers and passes in every state, maps over the canvas, and the upscale popup.

        The starter takes no layers, so the engine's answer on another model is told instead.
        """
        session, window = self._photographer.session, self._window
        form, path = session.generation, session.view.path
        assert path is not None
        window.form.ensureWidgetVisible(window.form.no_layers)
        self.keep("b4-no-layers")
        store = session.models.store
        store.list_once()
        self._photographer.wait_for("models", lambda: store.is_listed)
        say_family(session, "sd1")
        for name, shown in self._states(path).items():
            form.controls, form.image_prompts, form.second_passes = shown
            self._photographer.wait_for("models", lambda: not store.is_listing)
            # Files that the engine would describe so.
            store.listing.add(MODELS)
            self._photographer.settle(1.5)
            bar = window.form.verticalScrollBar()
            panels = (panel for panel in (window.form.controls, window.form.image_prompts))
            first = next((panel for panel in panels if panel.cards), window.form.second_passes)
            bar.setValue(first.y())
            self.keep(f"b5-{name}")
        self._maps(path)
        form.controls = form.image_prompts = form.second_passes = ()
        self._photographer.settle(0.3)
        self.press(ActionName.UPSCALE)
        popup = window.create_page.info.upscale.popup
        assert popup is not None
        self._photographer.wait_for("outlook", popup.start.isEnabled)
        self.keep("b7-upscale", popup)
        popup.sizes.kinds.setCurrentIndex(3)
        popup.sizes.width_field.setValue(60_000)
        self._photographer.wait_for("refusal", popup.refusal.isVisible)
        self.keep("b7-upscale-refused", popup)
        popup.close()

    def _states(self, path: str) -> dict[str, tuple[Any, Any, Any]]:
        """Return the layers, image prompts and passes of each picture by its name."""
        canny = ControlLayer(image=path, network=CANNY.path, preprocessor=CannyOptions())
        depth = ControlLayer(image=path, network=DEPTH.path, preprocessor=DepthOptions())
        wrong = ControlLayer(image=path, network=CANNY_XL.path)
        lost = ControlLayer(image=path, network="control_v11p_sd15_openpose [cab727d4]")
        bare = ControlLayer(image="", network=CANNY.path, preprocessor=CannyOptions())
        none = ControlLayer(image=path)
        part = msgspec.structs.replace(canny, range=(0.2, 0.6), weight=0.45)
        off = msgspec.structs.replace(part, enabled=False)
        gone = msgspec.structs.replace(canny, image="/nowhere/gone.png")
        prompt = ImagePrompt(image=path, adapter=ADAPTER.path)
        lost_prompt = ImagePrompt(image=path, adapter="ip-adapter-plus_sd15")
        passes = SecondPass(), SecondPass(upscaler="R-ESRGAN 4x+", scale=1.5)
        return {
            "control": ((canny,), (), ()),
            "control-part": ((part, off), (), ()),
            "control-no-weights": ((depth, wrong), (), ()),
            "control-lost": ((lost, gone), (), ()),
            "control-bare": ((bare, none), (), ()),
            "prompts": ((), (prompt, lost_prompt), ()),
            "passes": ((), (), passes),
        }

    def _maps(self, path: str) -> None:
        """A map over the canvas with two layers, and the menu that leads to the other."""
        session, window = self._photographer.session, self._window
        canny = ControlLayer(image=path, network=CANNY.path, preprocessor=CannyOptions())
        inverted = msgspec.structs.replace(canny, preprocessor=InvertOptions())
        session.generation.controls = canny, inverted
        maps = session.control_maps
        self._photographer.wait_for("map", lambda: bool(maps.of(canny).path))
        session.view.show_map(0)
        self.keep("b6-map", seconds=1)
        file = QMimeData()
        file.setUrls([QUrl.fromLocalFile(path)])
        spot = window.form.controls.cards[0]
        window.form.ensureWidgetVisible(spot, 0, 0)
        self._photographer.settle(0.3)
        place = spot.mapTo(window, spot.rect().center())
        for kind in (QDragEnterEvent, QDragMoveEvent):
            event = kind(
                place,
                Qt.DropAction.CopyAction,
                file,
                Qt.MouseButton.LeftButton,
                Qt.KeyboardModifier.NoModifier,
            )
            QApplication.sendEvent(window, event)
        self.keep("b6-drop")
        QApplication.sendEvent(window, QDragLeaveEvent())
        session.view.show_map(None)

    def gallery(self) -> None:
        """The grid with two chosen pictures, comparing them, and the viewer."""
        self._window.places.open(Place.GALLERY)
        (page,) = self._window.findChildren(GalleryPage)
        self._photographer.wait_for(
            "gallery",
            lambda: page.browser.count >= len(PROMPTS),
        )
        grid = page.browser.grid
        grid.choose(0)
        self.press(ActionName.RATE_4)
        grid.choose(1)
        self.press(ActionName.FAVOURITE)
        chosen = grid.selectionModel()
        chosen.select(page.browser.model.index(0), chosen.SelectionFlag.Select)
        self.keep("c1-gallery", seconds=1.5)
        self.press(ActionName.COMPARE)
        self.keep("c2-compare", seconds=1)
        page.browse()
        grid.choose(2)
        grid.opened.emit()
        self.keep("c3-viewer", seconds=1)
        page.browse()

    def models(self) -> None:
        """The user's models, where to get more, and the folders."""
        session = self._photographer.session
        write_loras(session.checkpoints.models)
        self._window.places.open(Place.MODELS)
        (page,) = self._window.findChildren(ModelsPage)
        store = session.models.store
        store.refresh()
        self._photographer.wait_for(
            "models", lambda: bool(store.models) and all(model.is_read for model in store.models)
        )
        page.yours.choose(store.models[0].path)
        for view, state in enumerate(("d1-models", "d2-get-models", "d3-folders")):
            page.show_view(view)
            self.keep(state)

    def settings(self) -> None:
        """Each section of the settings."""
        self._window.places.open(Place.SETTINGS)
        (page,) = self._window.findChildren(SettingsPage)
        for number in range(len(page.sections)):
            page.navigation.setCurrentRow(number)
            self.keep(f"e{number + 1}-settings")

    def dialogs(self) -> None:
        """Every window beside the main one."""
        self._window.places.open(Place.CREATE)
        openers: list[tuple[str, Callable[[], object]]] = [
            (name.value, self._window.actions_by_name[name].trigger) for name in _DIALOGS
        ]
        openers.append(("model", self._window.form.checkpoint.show_details))
        openers.append(("loras", self._window.form.loras.browse))
        for name, opens in openers:
            opens()
            self._photographer.settle(0.5)
            shown = [widget for widget in self._window.findChildren(QDialog) if widget.isVisible()]
            for dialog in shown:
                self.keep(f"f-{name}", dialog)
                dialog.reject()

    def files(self) -> None:
        """Our own question for a picture, for a folder, and for the name of a new file."""
        output = self._photographer.session.output_pictures.folder
        questions = (
            (FileQuestion.FILE, "Pictures (*.png)", output),
            (FileQuestion.FOLDER, "", output.parent),
            (FileQuestion.NEW_FILE, "*.txt", output / "report.txt"),
        )
        for question, kinds, start in questions:
            theme = self._photographer.theme
            dialog = FileDialog(theme, question, kinds_of(kinds), self._window)
            dialog.begin(start)
            dialog.show()
            self.keep(f"g-{question.name.lower()}", dialog)
            dialog.reject()


def _variant(folder: Path, name: str, only: str) -> None:
    """Photograph one variant, whose variables are set; `only` the pages of one kind, or all."""
    application = Application()
    use_language(application, Language.SYSTEM)
    with tempfile.TemporaryDirectory() as private:
        photographer = Photographer(application, folder, Path(private))
        album = Album(photographer, name)
        try:
            every = (
                album.empty_pages,
                album.create,
                album.layers,
                album.gallery,
                album.models,
                album.settings,
                album.dialogs,
                album.files,
            )
            for part in (album.begin, album.layers) if only else every:
                part()
        finally:
            # A window that is shown when it is destroyed may crash the process.
            photographer.window.close()
            photographer.session.close()
            photographer.window.close_background()
    QGuiApplication.quit()


def main(folder: Path, only: str = "", part: str = "") -> None:
    """Photograph every variant, or the one that is named; `part` is empty or "layers"."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, variant in VARIANTS.items():
        if only in ("", name):
            variables = {
                **os.environ,
                "SAFELIGHT_THEME": variant.look,
                "SAFELIGHT_LANGUAGE": variant.language,
            }
            if not os.environ.get("DISPLAY"):
                variables.setdefault("QT_QPA_PLATFORM", "offscreen")
            command = [
                sys.executable,
                "-m",
                "tests.ui.page_pictures",
                str(folder),
                name,
                part,
                "here",
            ]
            subprocess.run(command, env=variables, check=True)


if __name__ == "__main__":
    if sys.argv[4:] == ["here"]:
        _variant(Path(sys.argv[1]), *sys.argv[2:4])
    else:
        main(Path(sys.argv[1]), *sys.argv[2:4])
