"""The LoRAs of the form: a row for each, those that the prompt names, and a button to add more."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from app.form.lora_list import LoraFate, LoraRow, NamedLora
from app.form.trigger_words import has_words
from app.library.picture_files import Picture
from app.paths import nearest_folder
from app.session import Session
from engine.api.lora_files import FewStepSettings, LoraInfo
from engine.api.weight_suffixes import PYTORCH_SUFFIXES, SAFETENSORS_SUFFIXES
from ui.files.chooser import FileChooser
from ui.files.kinds import patterns
from ui.lora_labels import fate_words, lora_summary, lost_words, place_words, shared_words
from ui.panels.card_list import CardList
from ui.panels.lora_row import LoraRowPanel
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import breakable, plain_label, plain_tooltip

if TYPE_CHECKING:
    from ui.dialogs.lora_dialog import LoraDialog

# The most characters of a menu's line.
_MOST_CHARACTERS = 80
# What file dialogs offer.
LORA_FILES = f"LoRA ({patterns((*SAFETENSORS_SUFFIXES, *PYTORCH_SUFFIXES))})"


class LoraPanel(CardList[LoraRowPanel]):
    """A card for each LoRA; below them what the prompt names."""

    def __init__(self, session: Session, theme: Theme, pictures: ThumbnailStore) -> None:
        super().__init__(M)
        self.heading.setText(self.tr("LoRA"))
        self._session, self._theme, self._pictures = session, theme, pictures
        self.questions: list[UnresolvedLoraRow] = []
        self.named = plain_label("", "caption", wrap=True)
        self._asked = QWidget()
        column = QVBoxLayout(self._asked)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        self.put_below(self._asked, self.named)
        self.add.clicked.connect(self.browse)
        for signal in (
            session.lora_list.rows_changed,
            session.lora_list.named_changed,
            session.checkpoints.families_changed,
        ):
            signal.connect(self._refresh)
        session.generation.prompt_changed.connect(self._show_use)
        session.generation.effective_changed.connect(self._show_use)
        pictures.ready.connect(self._on_picture)
        self._refresh()

    def browse(self) -> "LoraDialog":
        """Open the list of all LoRA files."""
        # Here, as the window starts sooner without its dialogs.
        from ui.dialogs.lora_dialog import LoraDialog

        dialog = LoraDialog(self._session, self._theme, self._pictures, self.window())
        dialog.open()
        return dialog

    def _refresh(self, *_: object) -> None:
        rows, named = self._session.lora_list.rows, self._session.lora_list.named
        self.show_count(len(rows))
        for row, panel in zip(rows, self.cards, strict=False):
            self._show(row, panel)
        self._show_use()
        found = [lora.name for lora in named if lora.info is not None and not lora.alike]
        text = (
            self.tr("The prompt also names {names}.")
            if rows
            else self.tr("The prompt names {names}.")
        )
        self.named.setText(breakable(text.format(names=", ".join(found))))
        self.named.setVisible(bool(found))
        self._show_questions([lora for lora in named if lora.info is None or lora.alike])
        self.heading.setVisible(bool(rows) or bool(named))
        self.add.setText(
            self.tr("Add a LoRA…") if rows else self.tr("LoRA: add a style or a subject…")
        )
        self.order_controls(*(row.act for row in self.questions))

    def make_card(self, at: int) -> LoraRowPanel:
        """Return a card that changes the LoRA at a place."""
        panel, lora = LoraRowPanel(self._theme), self._session.lora

        def change(changes: dict[str, Any]) -> None:
            lora.change(at, **changes)

        panel.changed.connect(change)
        panel.removed.connect(lambda: lora.remove(at))
        panel.wants_file.connect(lambda: self._find(at))
        panel.wants_another.connect(lambda: self._choose(at))
        panel.wants_settings.connect(lora.use_settings)
        panel.words.clicked.connect(lora.toggle_words)
        return panel

    def _show(self, row: LoraRow, panel: LoraRowPanel) -> None:
        store, info = self._session.checkpoints, row.info
        own = " / ".join(map(store.family_title, info.families)) if info is not None else ""
        checkpoint = store.family_title(self._session.lora_list.family or "")
        about = lora_summary(info, own) if info is not None else ""
        if info is not None and row.alike:
            about = " · ".join(filter(None, (place_words(info, row.alike), about)))
        panel.show_row(row, about, fate_words(row, own, checkpoint))
        panel.show_picture(self._picture(info))

    def _show_use(self, *_: object) -> None:
        """Show which trigger words the prompt has, and which settings are not in force."""
        prompt = self._session.generation.prompt
        # On a change of the prompt the rows may follow a moment later.
        for row, panel in zip(self._session.lora_list.rows, self.cards, strict=False):
            panel.show_words(row, lambda words: has_words(prompt, words))
            panel.offer(self._offered(row))

    def _offered(self, row: LoraRow) -> FewStepSettings | None:
        """Return the settings that a LoRA was made for, unless they are in force."""
        wanted = row.info.few_steps if row.info is not None else None
        if wanted is None or row.fate is not LoraFate.APPLIED:
            return None
        now = self._session.generation.effective
        is_same = (now.sampler, now.schedule, now.steps, now.guidance) == (
            wanted.sampler,
            wanted.schedule,
            wanted.steps,
            wanted.guidance,
        )
        return None if is_same else wanted

    def _picture(self, info: LoraInfo | None) -> QImage | None:
        if info is None or not info.preview:
            return None
        thumbnail = self._pictures.get(preview_of(info))
        pixmap = thumbnail.pixmap if thumbnail is not None else None
        return pixmap.toImage() if pixmap is not None else None

    def _on_picture(self, path: str) -> None:
        for row, panel in zip(self._session.lora_list.rows, self.cards, strict=False):
            if row.info is not None and row.info.preview == path:
                panel.show_picture(self._picture(row.info))

    def _show_questions(self, named: list[NamedLora]) -> None:
        self._asked.setVisible(bool(named))
        if [row.named for row in self.questions] == named:
            return
        for row in self.questions:
            row.hide()
            row.deleteLater()
        self.questions = [UnresolvedLoraRow(lora) for lora in named]
        column = self._asked.layout()
        assert column is not None
        for row in self.questions:
            column.addWidget(row)
            row.show()
            row.act.clicked.connect(lambda _checked=False, row=row: self._ask_about(row))

    def _ask_about(self, row: "UnresolvedLoraRow") -> None:
        if row.named.info is None:
            self._find_named(row.named)
        else:
            self._choose_named(row)

    def _choose(self, at: int) -> None:
        row, lora = self._session.lora_list.rows[at], self._session.lora
        menu = FileMenu(row.alike, row.info, lambda path: lora.replace(at, path), self)
        menu.open_below(self.cards[at].another)

    def _choose_named(self, row: "UnresolvedLoraRow") -> None:
        named, lora = row.named, self._session.lora

        def use(path: Path) -> None:
            lora.replace_named(named, path)

        FileMenu(named.alike, named.info, use, self).open_below(row.act)

    def _find(self, at: int) -> None:
        path = self._ask(self._session.generation.loras[at].file)
        if path is not None:
            self._session.lora.replace(at, path)

    def _find_named(self, named: NamedLora) -> None:
        path = self._ask(named.name)
        if path is not None:
            self._session.lora.replace_named(named, path)

    def _ask(self, name: str) -> Path | None:
        """Ask for the file of a LoRA that is not found."""
        title = self.tr("Find {name}").format(name=Path(name).name[:80])
        folder = nearest_folder(self._session.checkpoints.models)
        found = FileChooser.open_file(self, title, folder, LORA_FILES)
        return Path(found) if found else None


class UnresolvedLoraRow(QWidget):
    """A LoRA of the prompt that is not found or could be several files, with a button to choose."""

    def __init__(self, named: NamedLora) -> None:
        super().__init__()
        self.named = named
        name = named.name[:80]
        is_lost = named.info is None
        words = lost_words(named) if named.info is None else shared_words(named, named.info)
        self.words = plain_label(breakable(words), "note", wrap=True)
        self.act = QPushButton(self.tr("Find it…") if is_lost else self.tr("Choose…"))
        self.act.setAccessibleName(
            self.tr("Find {name}").format(name=name)
            if is_lost
            else self.tr("Choose the file of {name}").format(name=name)
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.words, 1)
        row.addWidget(self.act, 0, Qt.AlignmentFlag.AlignTop)


class FileMenu(QMenu):
    """A menu of files of one name by their folders; the one in use has a tick."""

    def __init__(
        self,
        infos: Iterable[LoraInfo],
        used: LoraInfo | None,
        use: Callable[[Path], None],
        parent: QWidget,
    ) -> None:
        """`use` takes the path of the chosen file, unless it is in use."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setToolTipsVisible(True)
        every = tuple(infos)
        for info in every:
            # Qt takes the sign for a key's mark.
            action = self.addAction(place_words(info, every).replace("&", "&&")[-_MOST_CHARACTERS:])
            action.setToolTip(plain_tooltip(info.path))
            action.setCheckable(True)
            action.setChecked(info == used)
            if info != used:
                action.triggered.connect(partial(use, Path(info.path)))

    def open_below(self, button: QWidget) -> None:
        """Open the menu below a button."""
        self.popup(button.mapToGlobal(button.rect().bottomLeft()))


def preview_of(info: LoraInfo) -> Picture:
    """Return the picture beside a LoRA as a thumbnail's key."""
    return Picture(info.preview, info.preview_modified_ns, 0)
