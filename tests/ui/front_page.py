"""The pictures in README.md: `python -m tests.ui.front_page FOLDER`.

The real window and engine, and pictures by the starter; dark, 1280x720. Where there is no display
they are drawn off the screen.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PIL import Image
from PySide6.QtGui import QGuiApplication

from engine.api.values import SamplerName
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.ui.screenshots import PROMPTS, Photographer
from ui.actions import ActionName
from ui.application import Application
from ui.gallery.page import GalleryPage
from ui.models.page import ModelsPage
from ui.places import Place
from ui.theme.colours import DARK

SIZE = (1280, 720)
MORE_PROMPTS = (
    "a lighthouse on a cliff at sunset",
    "a green tree in a meadow by day",
    "a white boat on the sea, full moon",
    "a blue house in the desert at dusk",
    "a red balloon over the mountains by day",
    "a yellow flower in the meadow, sunset",
    "a purple castle by the sea at night",
    "an orange house in the mountains, sunset",
    "a red boat on the ocean by day",
    "a white flower in the desert at night",
    "a green balloon over the ocean, sunset",
)
# The names of files, and the numbers of the pictures that they get, the newest being 0.
_CHECKPOINTS = {
    "watercolourTales_v3": 5,
    "nightPostcards_v12": 0,
    "paperSkies_v2": 3,
    "coastline_v1": 7,
}
_LORAS = {"ink wash": 6, "soft sunset": 10, "flat poster": 1, "moonlight": 11}


def save_window(photographer: Photographer, path: Path) -> None:
    """Save the picture of Create, with a result."""
    session = photographer.session
    for count, prompt in enumerate((*MORE_PROMPTS, *reversed(PROMPTS)), 1):
        session.generation.prompt = prompt
        session.jobs.generate()
        photographer.wait_for_jobs(count)
    # The foot of the window names the device, not that it is being looked for.
    devices = session.devices
    photographer.wait_for("devices", lambda: bool(devices.chosen) and not devices.checking)
    _save(photographer, path)


def save_gallery(photographer: Photographer, path: Path) -> None:
    """Save the picture of the gallery, with some marks and one picture chosen."""
    window = photographer.window
    window.places.open(Place.GALLERY)
    (page,) = window.findChildren(GalleryPage)
    count = len(PROMPTS) + len(MORE_PROMPTS)
    photographer.wait_for("gallery", lambda: page.browser.count == count)
    for row, mark in ((4, ActionName.RATE_5), (9, ActionName.FAVOURITE), (1, ActionName.RATE_4)):
        page.browser.grid.choose(row)
        window.actions_by_name[mark].trigger()
        photographer.settle()
    _save(photographer, path)


def save_models(photographer: Photographer, path: Path) -> None:
    """Save the picture of the models: files that hold nothing, with pictures by the starter."""
    session, window = photographer.session, photographer.window
    models = session.checkpoints.models
    made = [picture.path for picture in session.output_pictures]
    layer = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"
    lora = {f"{layer}.lora_down.weight": (8, 768), f"{layer}.lora_up.weight": (640, 8)}
    (models / "Lora").mkdir(parents=True)
    for names, folder, tensors in (
        (_CHECKPOINTS, models, listings.original()),
        (_LORAS, models / "Lora", lora),
    ):
        _write(names, folder, tensors, made)
    chosen = str(models / f"{next(iter(_CHECKPOINTS))}.safetensors")
    session.checkpoint.choose(Path(chosen))
    session.generation.steps, session.generation.sampler = 28, SamplerName.DPMPP_2M
    session.checkpoint.choose(session.checkpoints.starter)
    window.places.open(Place.MODELS)
    (page,) = window.findChildren(ModelsPage)
    store = session.models.store
    store.refresh()
    photographer.wait_for(
        "models",
        lambda: (
            len(store.models) >= len(_CHECKPOINTS) and all(model.is_read for model in store.models)
        ),
    )
    page.yours.choose(chosen)
    for notice in session.notices.notices:
        session.notices.dismiss(notice.number)
    _save(photographer, path)


def _write(
    names: Mapping[str, int],
    folder: Path,
    tensors: Mapping[str, tuple[int, ...]],
    pictures: list[str],
) -> None:
    for name, number in names.items():
        file = write_sparse(folder / f"{name}.safetensors", tensors)
        shutil.copy(pictures[number], file.with_suffix(".preview.png"))


def _save(photographer: Photographer, path: Path) -> None:
    # Only now: at the start the window takes no more than the screen has.
    photographer.window.resize(*SIZE)
    photographer.settle(2)
    photographer.window.grab().save(str(path))
    # Smaller than as Qt writes it.
    with Image.open(path) as saved:
        pixels = saved.convert("RGB")
    pixels.save(path, optimize=True)
    print(path, flush=True)  # noqa: T201


def main(folder: Path) -> None:
    """Make the pictures, and save what each page looks like."""
    if not os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    folder.mkdir(parents=True, exist_ok=True)
    application = Application()
    with tempfile.TemporaryDirectory() as private:
        photographer = Photographer(application, folder, Path(private))
        try:
            photographer.theme.use_colours(DARK)
            photographer.session.start()
            photographer.wait_for("engine", photographer.is_ready)
            save_window(photographer, folder / "window.png")
            save_gallery(photographer, folder / "gallery.png")
            save_models(photographer, folder / "models.png")
        finally:
            photographer.session.close()
            photographer.window.close_background()
    QGuiApplication.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
