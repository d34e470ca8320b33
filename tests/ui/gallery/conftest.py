"""The Gallery in a window of its own session, over a few pictures."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage

from engine.metadata.png import TextChunk, insert_text_chunks
from tests.ui.conftest import Desk
from ui.gallery.page import GalleryPage
from ui.places import Place

PROMPTS = ("a red house", "a blue boat", "a green tree", "a white castle", "a yellow sun")


def write_picture(path: Path, prompt: str) -> None:
    """Write a picture as A1111 would, of 64 x 48 pixels in a colour of its own."""
    seed = sum(prompt.encode())
    image = QImage(QSize(64, 48), QImage.Format.Format_RGB32)
    image.fill(QColor.fromHsv(seed % 360, 200, 200))
    image.save(str(path))
    text = f"{prompt}\nSteps: 20, Sampler: Euler a, Seed: {seed}, Size: 64x48, Model: dreamer"
    path.write_bytes(insert_text_chunks(path.read_bytes(), [TextChunk("parameters", text)]))


class Shown:
    """The page of a desk's window, with pictures that were found; the newest is the last prompt."""

    def __init__(self, desk: Desk, prompts: tuple[str, ...]) -> None:
        self.desk, self.session = desk, desk.session
        self.folder = desk.paths.output
        self.folder.mkdir(parents=True, exist_ok=True)
        for number, prompt in enumerate(prompts):
            write_picture(self.folder / f"{number}.png", prompt)
        desk.window.places.open(Place.GALLERY)
        page = desk.window.places.page
        assert isinstance(page, GalleryPage)
        self.page, self.browser, self.grid = page, page.browser, page.browser.grid
        self.wait_for(len(prompts))

    def wait_for(self, count: int) -> None:
        """Wait until so many pictures are found."""
        self.desk.wait(lambda: self.browser.count == count)

    def choose(self, *prompts: str) -> None:
        """Choose pictures by their prompts, the last one as the current one."""
        rows = [self.number(prompt) for prompt in prompts]
        self.grid.choose(rows[-1])
        model = self.grid.selectionModel()
        for row in rows[:-1]:
            model.select(self.browser.model.index(row), model.SelectionFlag.Select)

    def number(self, prompt: str) -> int:
        """Return where the picture of a prompt is."""
        return self.prompts().index(prompt)

    def prompts(self) -> list[str]:
        """Return the prompts of the pictures that were found, in order."""
        rows = self.session.gallery_index.rows(self.browser.model.ids)
        return [row.prompt for row in rows]


@pytest.fixture(autouse=True)
def _folders_settle_soon(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Look at folders that have changed without waiting for further changes."""
    monkeypatch.setattr("app.gallery.upkeep._SETTLE_MS", 10)


@pytest.fixture
def shown(desk: Desk) -> Shown:
    return Shown(desk, PROMPTS)


@pytest.fixture
def nothing(desk: Desk) -> Shown:
    return Shown(desk, ())
