"""Pictures of every page, also in high contrast, in German and mirrored, for FOLDER.

`python -m tests.ui.page_pictures FOLDER`, or `FOLDER german` for one variant. Each is a process of
its own, as a language is for all of it. Real widgets, the real engine, the starter; at the size of
a small laptop's screen.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from app.settings.values import Language
from engine.api.preprocessors import CannyOptions
from tests.ui.screenshots import PROMPTS, Photographer, write_loras
from ui.actions import ActionName
from ui.application import Application
from ui.gallery.page import GalleryPage
from ui.languages.use import use_language
from ui.models.page import ModelsPage
from ui.places import Place
from ui.settings.page import SettingsPage

SIZE = (1280, 720)


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
    ActionName.UPDATES,
    ActionName.PRESETS,
    ActionName.SAVE_PRESET,
    ActionName.EARLIER_PROMPTS,
)


class Album:
    """The pages of one variant, photographed one after another."""

    def __init__(self, photographer: Photographer, name: str) -> None:
        self._photographer, self._name = photographer, name
        self._window = photographer.window

    def keep(self, state: str, widget: QWidget | None = None, seconds: float = 0.6) -> None:
        """Save what the window, or another, looks like."""
        # A new window takes no more than the screen has, a moment after it is shown.
        self._window.resize(*SIZE)
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

    def create(self) -> None:
        """A result, everything that folds open, and the queue."""
        session, window = self._photographer.session, self._window
        for prompt in PROMPTS:
            session.generation.prompt = prompt
            session.jobs.generate()
        self._photographer.wait_for_jobs(len(PROMPTS))
        self.keep("b1-result", seconds=1.5)
        advanced = window.form.advanced
        for section in (advanced.section, *advanced.sections.values()):
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
        """Cards of a control layer, an image prompt and a second pass; a map over the canvas."""
        session, window = self._photographer.session, self._window
        form, path = session.generation, session.view.path
        assert path is not None
        session.control.add(path)
        session.control.change(0, preprocessor=CannyOptions())
        session.image_prompt.add(path)
        session.second_pass.add()
        layer = form.controls[0]
        self._photographer.wait_for("map", lambda: bool(session.control_maps.of(layer).path))
        session.view.show_map(0)
        bar = window.form.verticalScrollBar()
        for number in range(1, 4):
            self._photographer.settle(0.3)
            bar.setValue(window.form.controls.y() if number == 1 else bar.maximum() * number // 3)
            self.keep(f"b4-layers-{number}")
        session.view.show_map(None)
        form.controls = form.image_prompts = form.second_passes = ()

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
            "models", lambda: bool(store.models) and all(one.is_read for one in store.models)
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
            shown = [one for one in self._window.findChildren(QDialog) if one.isVisible()]
            for dialog in shown:
                self.keep(f"f-{name}", dialog)
                dialog.reject()


def _variant(folder: Path, name: str) -> None:
    """Photograph one variant, whose variables are set."""
    application = Application()
    use_language(application, Language.SYSTEM)
    with tempfile.TemporaryDirectory() as private:
        photographer = Photographer(application, folder, Path(private))
        album = Album(photographer, name)
        try:
            for part in (
                album.empty_pages,
                album.create,
                album.layers,
                album.gallery,
                album.models,
                album.settings,
                album.dialogs,
            ):
                part()
        finally:
            photographer.session.close()
            photographer.window.close_background()
    QGuiApplication.quit()


def main(folder: Path, only: str = "") -> None:
    """Photograph every variant, or the one that is named."""
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
            command = [sys.executable, "-m", "tests.ui.page_pictures", str(folder), name, "here"]
            subprocess.run(command, env=variables, check=True)


if __name__ == "__main__":
    if sys.argv[3:] == ["here"]:
        _variant(Path(sys.argv[1]), sys.argv[2])
    else:
        main(Path(sys.argv[1]), *sys.argv[2:3])
