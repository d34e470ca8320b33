"""The page of models: the list, the pane about one model, links, and folders."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from app.commands.getting import Offer, Stage
from app.downloads.errors import DownloadCode, DownloadProblem
from app.downloads.links import read_link
from app.downloads.model_pages import OfferedFile, Page
from app.engine.speed import PictureKind
from app.library.first_models import first_models, ranked
from app.notices.notices import NoticeState
from engine.api.messages import FamiliesKnown, QueryFailed
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.model_messages import ModelHashed, ModelHashing, ModelsFound, ModelsListed
from engine.api.values import ConventionName, ErrorCode, ErrorInfo, SamplerName
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.ui.devices import DEVICES
from ui.actions import ActionName, Actions
from ui.delegates.model_delegate import ModelDelegate
from ui.item_models.model_item_model import ModelItemModel
from ui.labels import duration
from ui.model_labels import model_line
from ui.models.folders import FoldersView
from ui.models.get import GetModels
from ui.models.page import ModelsPage
from ui.models.yours import YourModels
from ui.theme.metrics import M
from ui.theme.theme import Theme


def model(name: str, **facts: object) -> ModelInfo:
    usual: dict[str, object] = {
        "path": f"/models/{name}.safetensors",
        "name": name,
        "root": "/models",
        "size": 2_000_000_000,
        "modified_ns": 1,
        "kind": ModelKind.CHECKPOINT,
        "families": ("sdxl",),
    }
    return ModelInfo(**(usual | facts))  # pyright: ignore[reportArgumentType]


MIX = model("folder/mix", title="Great Mix", size=6_000_000_000)
INK = model("ink", kind=ModelKind.LORA, families=("sd1",), trigger_words=("inkwash",))
LACKS = model("lacks", missing=("vae",))
PAGE_FILE = model("page", families=(), problem="page.safetensors is a web page.", hint="Get it.")
MODELS = (MIX, INK, LACKS, PAGE_FILE)


NO_LIST = ErrorInfo(ErrorCode.NOT_AVAILABLE, "The disk gave up.", "Put it in again.")


class Shown(Staged):
    """A session whose engine is not started, and its page of models."""

    def __init__(self, folder: Path, bot: QtBot, theme: Theme) -> None:
        super().__init__(folder, bot, fake_command(Plan()), QUICK)
        self.window = QMainWindow()
        self.actions = Actions(self.window)
        self.page = ModelsPage(self.session, theme, self.actions)
        self.window.setCentralWidget(self.page)
        # As the window has one: its size does not follow from what the page shows.
        self.window.setMinimumSize(800, 560)
        bot.addWidget(self.window)
        self.window.resize(1100, 700)
        self.window.show()

    def tell(self, *models: ModelInfo) -> None:
        """Have the engine list these models."""
        query = self.session.models.store.listing.query
        assert query is not None
        self.client.models_found.emit(ModelsFound(query=query, models=models))
        self.client.models_listed.emit(ModelsListed(query=query, folders=()))

    @property
    def names(self) -> list[str]:
        rows = self.page.yours.item_model
        return [rows.info_at(row).name for row in range(rows.rowCount())]


@pytest.fixture
def shown(
    tmp_path: Path, qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shown]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    shown = Shown(tmp_path, qtbot, theme)
    yield shown
    shown.end()
    shown.page.close_background()


def test_models_that_cannot_be_used_are_a_group_of_their_own(shown: Shown) -> None:
    yours = shown.page.yours
    shown.tell(*MODELS)
    assert shown.names == ["ink", "lacks", "folder/mix"]
    assert "1" in yours.broken.text()
    yours.broken.click()
    assert shown.names == ["page"]
    assert yours.details.problem.text().replace("\u200b", "") == (
        "page.safetensors is a web page. Get it."
    )
    assert yours.details.use.isHidden()
    shown.session.models.store.refresh()
    shown.tell(MIX)
    assert shown.names == ["folder/mix"]
    assert yours.broken.isHidden()


@pytest.mark.parametrize("width", [830, 1370])
def test_search_and_cards_have_their_room_in_every_window(shown: Shown, width: int) -> None:
    yours = shown.page.yours
    shown.tell(MIX, *(model(f"ink {n}") for n in range(20)))
    shown.window.resize(width, 570)
    shown.wait(lambda: yours.width() == width)
    hint = yours.search.fontMetrics().horizontalAdvance(yours.search.placeholderText())
    shown.wait(lambda: yours.search.width() > hint)
    grid, cell = yours.list, yours.list.gridSize().width()
    columns = grid.viewport().width() // cell
    assert columns >= 2
    # No further column would fit, and none is left empty.
    assert grid.viewport().width() - columns * cell < cell / 4
    shown.wait(lambda: len({row_top(yours, row) for row in range(columns)}) == 1)


def row_top(yours: YourModels, row: int) -> int:
    return yours.list.visualRect(yours.item_model.index(row, 0)).top()


def test_search_kind_family_and_order_choose_what_is_shown(shown: Shown) -> None:
    yours = shown.page.yours
    shown.tell(*MODELS)
    for text, names in (
        ("INKWASH", ["ink"]),
        ("great sdxl", ["folder/mix"]),
        ("nothing like it", []),
        ("", ["ink", "lacks", "folder/mix"]),
    ):
        yours.search.setText(text)
        assert shown.names == names
    yours.kind.setCurrentIndex(yours.kind.findData(ModelKind.LORA.value))
    yours.kind.activated.emit(yours.kind.currentIndex())
    assert shown.names == ["ink"]
    yours.kind.setCurrentIndex(0)
    yours.kind.activated.emit(0)
    yours.family.setCurrentIndex(yours.family.findData("sdxl"))
    yours.family.activated.emit(yours.family.currentIndex())
    assert shown.names == ["lacks", "folder/mix"]
    yours.order.setCurrentIndex(2)
    yours.order.activated.emit(2)
    assert shown.names == ["folder/mix", "lacks"]


def test_the_current_model_stays_when_the_list_changes(shown: Shown) -> None:
    yours = shown.page.yours
    shown.tell(*MODELS)
    yours.choose(MIX.path)
    shown.session.models.store.refresh()
    shown.tell(model("a first one"), *MODELS)
    assert yours.current() == MIX
    assert yours.details.model == MIX


def test_a_model_is_used_by_enter_and_by_the_button(shown: Shown) -> None:
    yours, form = shown.page.yours, shown.session.generation
    shown.tell(*MODELS)
    yours.choose(INK.path)
    yours.list.setFocus()
    QTest.keyClick(yours.list, Qt.Key.Key_Return)
    assert [lora.file for lora in form.loras] == [INK.path]
    yours.choose(MIX.path)
    yours.details.use.click()
    assert str(form.checkpoint) == MIX.path


def test_the_model_that_the_form_has_is_in_use_and_cannot_be_chosen_again(shown: Shown) -> None:
    yours, use = shown.page.yours, shown.page.yours.details.use
    shown.tell(MIX, model("other"))
    yours.choose(MIX.path)
    assert (use.text(), use.isEnabled()) == ("Use this model", True)
    shown.session.generation.checkpoint = Path(MIX.path)
    assert (use.text(), use.isEnabled()) == ("In use", False)
    yours.choose(model("other").path)
    assert (use.text(), use.isEnabled()) == ("Use this model", True)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (ModelKind.CONTROLNET, "Follow a picture with it"),
        (ModelKind.IP_ADAPTER, "Use for an image prompt"),
        (ModelKind.VISION_ENCODER, "Use for image prompts"),
        (ModelKind.UPSCALER, "Enlarge pictures with it"),
    ],
)
def test_a_network_of_each_kind_has_a_button_that_uses_it(
    shown: Shown, kind: ModelKind, words: str
) -> None:
    used: list[None] = []
    shown.session.model.used.connect(lambda: used.append(None))
    shown.tell(model("network", kind=kind))
    details = shown.page.yours.details
    assert details.use.isVisible()
    assert details.use.text() == words
    details.use.click()
    assert used == [None]
    form = shown.session.generation
    assert len((*form.controls, *form.image_prompts, *form.second_passes)) == 1


def test_a_list_that_failed_says_why_and_is_made_again(shown: Shown) -> None:
    # It said that it was looking for the models, for ever.
    yours, store = shown.page.yours, shown.session.models.store

    def fail() -> None:
        assert store.listing.query is not None
        shown.client.query_failed.emit(QueryFailed(query=store.listing.query, error=NO_LIST))

    assert "Looking" in yours.list.accessibleDescription()
    assert yours.count.text() == ""
    assert yours.again.isHidden()
    fail()
    told = yours.list.accessibleDescription()
    for words in ("could not be listed", "The disk gave up.", "Put it in again."):
        assert words in told
    assert yours.again.isVisible()
    yours.again.click()
    assert yours.again.isHidden()
    assert "Looking" in yours.list.accessibleDescription()
    shown.tell(*MODELS)
    assert yours.list.accessibleDescription() == ""
    # What was listed before is shown still.
    store.refresh()
    fail()
    assert yours.list.accessibleDescription() == ""
    assert yours.again.isHidden()


def test_a_missing_part_is_said_on_the_card(shown: Shown) -> None:
    shown.tell(LACKS)
    assert "VAE" in shown.page.yours.item_model.line(LACKS)


def test_a_note_is_kept_when_another_model_is_chosen(shown: Shown) -> None:
    yours = shown.page.yours
    shown.tell(*MODELS)
    yours.choose(INK.path)
    yours.details.note.setPlainText("likes <b>fog</b>")
    yours.choose(MIX.path)
    assert yours.details.note.toPlainText() == ""
    shown.wait(lambda: shown.session.model.note_of(INK) == "likes <b>fog</b>")
    yours.choose(INK.path)
    assert yours.details.note.toPlainText() == "likes <b>fog</b>"


def test_the_settings_with_a_model_are_told_and_forgotten(shown: Shown) -> None:
    session, own = shown.session, shown.page.yours.details.own_settings
    form = session.generation
    shown.tell(*MODELS)
    session.checkpoint.choose(Path(MIX.path))
    form.steps, form.sampler, form.width, form.height = 28, SamplerName.EULER, 832, 1216
    form.clip_skip = 2
    shown.page.yours.choose(MIX.path)
    words = own.words.text()
    assert words.startswith("28 steps · Euler · ")
    assert "832" in words
    assert words.endswith("1 more")
    session.checkpoint.choose(session.checkpoints.starter)
    assert own.words.text() == words
    own.forget.click()
    assert own.isHidden()
    undo = session.notices.notices[-1].undo
    assert undo is not None
    undo()
    assert own.words.text() == words
    own.forget.click()
    session.checkpoint.choose(Path(MIX.path))
    assert form.steps is None
    form.steps = 9
    assert own.words.text() == "9 steps"
    own.forget.click()
    assert form.steps is None
    assert own.isHidden()
    form.steps = 9
    shown.page.yours.choose(INK.path)
    assert own.isHidden()


def test_with_only_the_starter_models_are_invited(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    yours, store = shown.page.yours, shown.session.models.store
    assert "Looking" in yours.list.accessibleDescription()
    assert yours.invitation.isHidden()
    starter = model(
        "safelight-starter", path=str(shown.session.checkpoints.starter), families=("sd1",)
    )
    shown.tell(starter)
    assert yours.item_model.index(0).data() == "Safelight starter"
    assert yours.count.text() == "1 file"
    shown.wait(lambda: yours.item_model.index(0).data(Qt.ItemDataRole.DecorationRole) is not None)
    assert yours.details.trash.isHidden()
    assert yours.invitation.isVisible()
    # Views that nobody saw are not made.
    assert not shown.page.findChildren(GetModels) + shown.page.findChildren(FoldersView)
    yours.invitation.get.click()
    assert shown.page.stack.currentWidget() is shown.page.get
    asked: list[object] = []

    def ask(session: object, parent: object) -> None:
        asked.append(parent)

    monkeypatch.setattr("ui.models.folders.ask_for_folder", ask)
    yours.invitation.folder.click()
    assert len(asked) == 1
    assert shown.page.stack.currentWidget() is shown.page.folders
    opened: list[bool] = []
    shown.actions[ActionName.OPEN].triggered.connect(lambda: opened.append(True))
    yours.invitation.file.click()
    assert len(opened) == 1
    store.refresh()
    shown.tell(starter, MIX)
    assert yours.invitation.isHidden()
    yours.choose(MIX.path)
    assert not yours.details.trash.isHidden()


@pytest.mark.parametrize(("height", "has_words"), [(300, False), (500, True)])
def test_the_invitation_is_never_cut(shown: Shown, height: int, *, has_words: bool) -> None:
    """Its sentence was squeezed to half a line, and two of its buttons were out of sight."""
    shown.tell(
        model("safelight-starter", path=str(shown.session.checkpoints.starter), families=("sd1",))
    )
    invitation = shown.page.yours.invitation
    shown.window.resize(800, 700)
    shown.page.yours.setFixedHeight(height)
    shown.wait(lambda: invitation.isVisible() and shown.window.width() == 800)
    labels = invitation.findChildren(QLabel)
    shown.wait(lambda: [label.isVisible() for label in labels] == [has_words] * 2)
    shown.wait(
        lambda: all(
            label.height() >= label.heightForWidth(label.width())
            for label in labels
            if label.isVisible()
        )
    )
    for button in (invitation.get, invitation.folder, invitation.file):
        assert button.width() >= button.minimumSizeHint().width()
        assert invitation.rect().contains(button.geometry())


def test_a_hash_that_failed_is_said_and_can_be_asked_for_again(shown: Shown) -> None:
    details = shown.page.yours.details
    shown.tell(MIX)
    details.hash.click()
    assert "0 %" in details.hash.text()
    assert details.unhashed.isHidden()
    failed = ModelHashing(path=MIX.path, done_bytes=0, total_bytes=1, failed=True)
    shown.client.model_hashing.emit(failed)
    assert details.unhashed.isVisible()
    assert details.hash.isEnabled()
    assert details.hash.text() == "Compute the hash"
    details.hash.click()
    assert details.unhashed.isHidden()
    # The engine answers that it has begun, ends, and is started again.
    queries = tuple(shown.session.models.store._hash_queries)  # pyright: ignore[reportPrivateUsage]
    shown.client.families_known.emit(FamiliesKnown(families=()))
    assert details.unhashed.isHidden()
    for query in queries:
        shown.client.model_hashed.emit(ModelHashed(query=query, sha256=""))
    shown.client.families_known.emit(FamiliesKnown(families=()))
    assert details.unhashed.isVisible()


@pytest.mark.parametrize(
    ("convention", "name", "prompt"),
    [
        (ConventionName.A1111, "easy cat", "a category, easy cat"),
        (ConventionName.COMFY, "easy", "a category, embedding:easy"),
        (ConventionName.INVOKE, "easy cat", "a category, <easy cat>"),
        (ConventionName.DIFFUSERS, "easy", "a category, <easy>"),
        (ConventionName.COMFY, "easy cat", "a category"),
        (ConventionName.A1111, "elsewhere", "a category"),
        (ConventionName.A1111, "cat", "a category, cat"),
    ],
)
def test_an_embedding_is_named_as_the_convention_does_or_explained(
    shown: Shown, convention: ConventionName, name: str, prompt: str
) -> None:
    session, form = shown.session, shown.session.generation
    form.prompt, form.convention = "a category", convention
    session.loras.embeddings = ("easy", "easy cat", "cat")
    session.loras.listing.is_listed = True
    word = model(name, kind=ModelKind.EMBEDDING, trigger_words=(name,))
    session.model.use(word)
    assert form.prompt == prompt
    notice = session.notices.notices[-1]
    is_explained = prompt == "a category"
    assert notice.message.startswith(f"{name} is an embedding") == is_explained
    # Once is enough.
    session.model.use(word)
    assert form.prompt == prompt


def test_drags_that_the_window_has_cards_for_are_left_to_it(shown: Shown, tmp_path: Path) -> None:
    for name, is_taken in (("a.png", False), ("note.txt", False), ("mix.safetensors", True)):
        file = tmp_path / name
        file.write_text("something")
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(file))])
        event = QDragEnterEvent(
            QPoint(5, 5),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        event.ignore()
        QApplication.sendEvent(shown.page, event)
        assert event.isAccepted() is is_taken, name


def test_a_dropped_folder_is_looked_into_and_a_dropped_link_is_looked_up(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(shown.session.models.getting, "look_up", asked.append)
    folder = tmp_path / "more models"
    folder.mkdir()
    drop(shown.page, QUrl.fromLocalFile(str(folder)))
    assert str(folder) in shown.session.loras.memory.folders
    assert shown.page.stack.currentWidget() is shown.page.folders
    assert [row.remove.isHidden() for row in shown.page.folders.watched][-1] is False
    drop(shown.page, QUrl("https://civitai.com/models/1"))
    assert asked == ["https://civitai.com/models/1"]
    assert shown.page.stack.currentWidget() is shown.page.get


def test_rows_of_folders_stay_while_only_their_files_change(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders, page = shown.session.models.folders, shown.page
    folder = tmp_path / "more models"
    folder.mkdir()
    drop(page, QUrl.fromLocalFile(str(folder)))
    rows, (*others, last) = page.folders.watched, folders.watched
    for files, missing in ((3, False), (4, False), (4, True)):
        now = (*others, msgspec.structs.replace(last, files=files, is_missing=missing))
        monkeypatch.setattr(type(folders), "watched", now)
        folders.changed.emit()
        assert (page.folders.watched == rows) is not missing
        said = page.folders.watched[-1].state.text()
        assert said.startswith("Not there" if missing else f"{files} files")


def test_a_folder_that_is_gone_is_told_beside_the_list(shown: Shown, tmp_path: Path) -> None:
    folders, yours = shown.session.models.folders, shown.page.yours
    disks = [tmp_path / name for name in ("disk", "other disk")]
    for disk in disks:
        disk.mkdir()
        folders.add(disk)
    shown.tell(MIX)
    assert yours.gone.isHidden()
    disks[0].rmdir()
    folders.look()
    shown.wait(lambda: not yours.gone.isHidden())
    assert yours.gone.text() == "1 folder is not there"
    assert str(disks[0]) in yours.gone.toolTip()
    disks[1].rmdir()
    folders.look()
    shown.wait(lambda: yours.gone.text() == "2 folders are not there")
    yours.gone.click()
    assert shown.page.folders.isVisible()
    assert shown.page.views.button(2).hasFocus()
    folders.remove(disks[0])
    folders.remove(disks[1])
    shown.wait(yours.gone.isHidden)


def test_folders_are_looked_for_when_they_are_shown(shown: Shown, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    shown.session.models.folders.add(disk)
    disk.rmdir()
    shown.page.show_view(2)
    shown.wait(lambda: shown.page.folders.watched[-1].state.text().startswith("Not there"))


def test_cards_and_their_kinds_follow_the_direction_of_text(shown: Shown) -> None:
    yours = shown.page.yours
    shown.tell(MIX)
    delegate = yours.list.itemDelegate()
    assert isinstance(delegate, ModelDelegate)
    from_left = yours.list.x()
    frame = QRect(0, 0, 400, 40)
    for direction in (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft):
        is_mirrored = direction is Qt.LayoutDirection.RightToLeft
        yours.setLayoutDirection(direction)
        image = QImage(frame.size(), QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        with QPainter(image) as painter:
            painter.setLayoutDirection(direction)
            delegate._draw_badge(  # pyright: ignore[reportPrivateUsage]
                painter, frame, ModelKind.LORA
            )
        middles = [image.pixelColor(x, 25) != QColor("white") for x in (8, frame.width() - 8)]
        assert middles == [not is_mirrored, is_mirrored]
    shown.wait(lambda: yours.width() - yours.list.geometry().right() - 1 == from_left)


def test_the_usual_folder_is_made_when_it_is_opened_for_the_first_time(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_folder(path: str, _notices: NoticeState) -> None:
        opened.append(path)

    monkeypatch.setattr("ui.models.folders.open_folder", open_folder)
    shown.page.show_view(2)
    shown.wait(lambda: shown.session.models.folders.watched[0].is_missing)
    row, *_ = shown.page.folders.watched
    folder = shown.paths.models
    assert not folder.exists()
    # Nobody took it away.
    assert row.state.property("role") == "caption"
    row.open.click()
    assert folder.is_dir()
    assert opened == [str(folder)]


def test_facts_with_long_names_stay_inside_the_pane(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As German names them.
    name = "Entrauscher (UNet oder Transformer)"
    details = shown.page.yours.details
    facts = [(name, "9 million weights · f16")]

    def told(*_: object) -> list[tuple[str, str]]:
        return facts

    monkeypatch.setattr(type(details), "_facts", told)
    shown.tell(MIX)
    shown.page.yours.choose(MIX.path)
    room = details.area.viewport().width() - 2 * M
    assert details.facts.minimumSizeHint().width() <= room


def drop(page: ModelsPage, url: QUrl) -> None:
    data = QMimeData()
    data.setUrls([url])
    action = Qt.DropAction.CopyAction
    button, modifier = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    page.dropEvent(QDropEvent(QPointF(QPoint(5, 5)), action, data, button, modifier))


def test_only_a_link_can_be_looked_up(shown: Shown) -> None:
    get = shown.page.get
    for text, can in (("", False), ("a cat", False), ("https://civitai.com/models/1", True)):
        get.link.setText(text)
        assert get.ask.isEnabled() == can
    assert "civitai.com" in get.state.text()
    get.link.setText("http://nas/a.safetensors")
    assert not get.ask.isEnabled()
    assert "encrypted" in get.state.text()


def test_an_offer_says_everything_before_it_is_agreed_to(shown: Shown) -> None:
    get, getting = shown.page.get, shown.session.models.getting
    link = read_link("https://civitai.com/models/1")
    assert link is not None
    file = OfferedFile(
        name="a.safetensors", url="https://civitai.com/x", size=2_000_000_000, sha256="ab" * 32
    )
    page = Page(title="<b>Mix</b>", files=(file,), licence="commercial use: None")
    getting.offer = Offer(link, page, 0, ("civitai.com", "cdn.test"))
    getting.stage = Stage.OFFERED
    getting.changed.emit()
    card = get.offer
    assert not card.isHidden()
    # No name of a row without anything beside it.
    names = [widget.text() for widget in card.findChildren(QLabel) if widget.isVisibleTo(card)]
    assert "File" not in names
    texts = [label.text().replace("\u200b", "") for label in (card.hosts, card.licence, card.hash)]
    assert texts[:2] == ["civitai.com, cdn.test", "commercial use: None"]
    assert "ab" * 32 in texts[2]
    assert card.title.textFormat() is Qt.TextFormat.PlainText
    assert card.kind is ModelKind.CHECKPOINT
    card.kinds.setCurrentIndex(card.kinds.findData(ModelKind.LORA.value))
    card.kinds.activated.emit(card.kinds.currentIndex())
    assert "/Lora/" in card.place.text().replace("\u200b", "")


def test_an_offer_says_the_name_that_is_free(shown: Shown) -> None:
    get, getting = shown.page.get, shown.session.models.getting
    taken = shown.paths.models / "Lora" / "a.safetensors"
    taken.parent.mkdir(parents=True)
    taken.write_bytes(b"another")
    link = read_link("https://civitai.com/models/1")
    assert link is not None
    file = OfferedFile(
        name=taken.name, url="https://civitai.com/x", size=2_000_000, kind=ModelKind.LORA
    )
    getting.offer = Offer(link, Page(title="Ink", files=(file,)), 0, ("civitai.com",))
    getting.stage = Stage.OFFERED
    getting.changed.emit()
    place = get.offer.place
    shown.wait(lambda: place.text().replace("\u200b", "") == str(taken.with_stem("a-2")))
    kinds = get.offer.kinds
    kinds.setCurrentIndex(kinds.findData(ModelKind.CHECKPOINT.value))
    kinds.activated.emit(kinds.currentIndex())
    assert place.text().replace("\u200b", "") == str(shown.paths.models / taken.name)


def test_a_key_is_asked_for_where_a_site_wants_one(shown: Shown) -> None:
    getting = shown.session.models.getting
    getting.stage = Stage.FAILED
    getting.problem = DownloadProblem(code=DownloadCode.STATUS, host="civitai.com", status=401)
    getting.changed.emit()
    assert not shown.page.get.key.isHidden()
    shown.page.get.key.key.setText("abc")
    shown.page.get.key.keep.click()
    assert (shown.paths.state / "site-keys.json").exists()
    getting.problem = DownloadProblem(code=DownloadCode.STATUS, host="files.test", status=401)
    getting.stage = Stage.FAILED
    getting.changed.emit()
    assert shown.page.get.key.isHidden()


def test_a_folder_has_no_size_before_it_is_read(shown: Shown) -> None:
    # It was told to have 0 bytes.
    folder = model("folder", size=0, is_read=False)
    assert model_line(folder, "") == ""
    shown.tell(folder)
    shown.page.yours.choose(folder.path)
    texts = [label.text() for label in shown.page.yours.details.findChildren(QLabel)]
    assert not any("0" in text and "bytes" in text for text in texts)
    assert model_line(msgspec.structs.replace(folder, is_read=True), "") == "0 bytes"


def test_models_that_fit_the_memory_come_first(shown: Shown) -> None:
    assert len(shown.page.get.first) == len(first_models())
    small = ranked(first_models(), 8_000_000_000)
    assert [first_model.fits(8_000_000_000) for first_model in small] == sorted(
        (first_model.fits(8_000_000_000) for first_model in small), reverse=True
    )
    assert sum(first_model.fits(8_000_000_000) for first_model in small) >= 2
    assert all(read_link(first_model.url) is not None for first_model in first_models())


def test_the_time_of_a_picture_is_that_of_the_device_until_a_full_model_was_used(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once only models of a used family had a time: that of the starter's, which is far too short.
    session = shown.session
    listed = msgspec.structs.replace(MODELS[0], path=str(session.checkpoints.starter))
    shown.tell(msgspec.structs.replace(listed, families=("sd1",), kind=ModelKind.CHECKPOINT))

    def of_the_starter(path: str, *_: int) -> float | None:
        return 1.0 if path == listed.path else None

    monkeypatch.setattr(session.pace, "seconds", of_the_starter)
    session.devices.devices = DEVICES
    session.devices.devices_changed.emit(None)
    told = {
        model.title: [label.text() for label in card.findChildren(QLabel)]
        for model, card in zip(first_models(), shown.page.get.first, strict=True)
    }
    times = {
        title: next((fact for text in texts for fact in text.split(" · ") if "here" in fact), "")
        for title, texts in told.items()
    }
    seconds = session.picture_time.of(PictureKind(860e6, 512, 512, 2 * 25))
    assert seconds is not None
    assert times["DreamShaper 8"] == f"about {duration(seconds)} per picture here"
    assert all(times.values()), times


def test_every_control_of_the_page_has_a_name(shown: Shown) -> None:
    shown.tell(*MODELS)
    for view in range(3):
        shown.page.show_view(view)
        for widget in (shown.page.yours, shown.page.get, shown.page.folders)[view].findChildren(
            QWidget
        ):
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
                text = getattr(widget, "text", str)
                assert widget.accessibleName() or text(), widget


def test_keys_reach_the_page_once_it_is_shown(shown: Shown) -> None:
    shown.wait(shown.window.isActiveWindow)
    assert shown.page.yours.list.hasFocus()
    QTest.keyClick(shown.page.yours.list, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert shown.page.yours.search.hasFocus()


def test_a_list_that_changed_is_filled_once(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[str] = []
    is_wanted = ModelItemModel._is_wanted  # pyright: ignore[reportPrivateUsage]

    def noted(item_model: ModelItemModel, model: ModelInfo, words: list[str]) -> bool:
        filled.append(model.name)
        return is_wanted(item_model, model, words)

    monkeypatch.setattr(ModelItemModel, "_is_wanted", noted)
    shown.tell(model("ink wash"), model("pixel art"))
    assert sorted(filled) == ["ink wash", "pixel art"]
