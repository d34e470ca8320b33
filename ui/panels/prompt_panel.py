"""A prompt field with its token count, and remarks on text without effect and on mistakes."""

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.form.picture_settings import tells_settings
from app.form.prompt_state import PromptState
from app.form.unknown_words import UnknownWordState
from app.session import Session
from engine.api.prompts import Hint, HintKind
from ui.labels import cut_text, encoder_counts, hint_text, token_count, unknown_text
from ui.prompt_help import help_writing
from ui.theme.metrics import XS, S
from ui.widgets.labels import breakable, buddy_label, plain_label
from ui.widgets.prompt_edit import PromptEdit

# The most characters of a name on a button.
_MOST_CHARACTERS = 60


class PromptPanel(QWidget):
    """A prompt field with its name and token count above and any remarks below."""

    def __init__(
        self,
        session: Session,
        name: str,
        edit: PromptEdit,
        state: PromptState,
        unknown: UnknownWordState | None = None,
    ) -> None:
        """Show a prompt's state; `unknown` are the words that its model does not know."""
        super().__init__()
        self._session, self._edit, self._state = session, edit, state
        self._unknown = unknown
        # The count is beside the name, so that nothing moves when it appears.
        self.count = plain_label("", "caption")
        self.cut = plain_label("", "note", wrap=True)
        self.hint = plain_label("", "note", wrap=True)
        self.problem = plain_label("", "error", wrap=True)
        self.unknown = plain_label("", "note", wrap=True)
        self.make_list = QPushButton(self.tr("Create it"))
        self.correct = QPushButton()
        for link in (self.make_list, self.correct):
            link.setProperty("role", "link")
        self.correct.clicked.connect(self._write_name)
        # What a long prompt has beside its name.
        self.head = QHBoxLayout()
        self.head.setSpacing(S)
        self.head.addWidget(buddy_label(name, edit))
        self.head.addStretch(1)
        self.head.addWidget(self.count)
        self._lay_out()
        edit.takes = self._takes
        help_writing(edit, session)
        state.check_changed.connect(self._show)
        state.hints_changed.connect(self._show)
        session.lora_list.named_changed.connect(self._show)
        if unknown is not None:
            unknown.words_changed.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        remark = QHBoxLayout()
        remark.setSpacing(S)
        remark.addWidget(self.problem, 1)
        remark.addWidget(self.make_list)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addLayout(self.head)
        for widget in (self._edit, self.cut):
            column.addWidget(widget)
        column.addLayout(remark)
        column.addWidget(self.hint)
        column.addWidget(self.correct, 0, Qt.AlignmentFlag.AlignLeading)
        column.addWidget(self.unknown)

    @property
    def missing_list(self) -> str:
        """The name of a list that the prompt names and that does not exist; empty without one."""
        first = self._state.hints[:1]
        return str(first[0].subject) if first and first[0].kind is HintKind.WILDCARD else ""

    def _show(self, *_: object) -> None:
        check, hints = self._state.check, self._state.hints
        # Only the first hint has a sentence; the places of all are underlined.
        hint = hints[0] if hints else None
        refused = hint is not None and hint.kind in (HintKind.REFUSED, HintKind.WILDCARD)
        sentence = hint_text(hint) if hint else ""
        texts = {
            self.count: token_count(check) if check.text.strip() else "",
            self.cut: cut_text(check),
            self.problem: sentence if refused else "",
            self.hint: "" if refused else sentence,
            self.unknown: unknown_text(self._unknown.words) if self._unknown else "",
        }
        for label, text in texts.items():
            label.setText(breakable(text))
            label.setVisible(bool(text))
        self.make_list.setVisible(bool(self.missing_list))
        self.count.setToolTip(encoder_counts(check))
        is_near = hint is not None and hint.kind is HintKind.NEAR_NAME
        self.correct.setVisible(is_near)
        if hint is not None and is_near:
            name = str(hint.subject)[:_MOST_CHARACTERS]
            self.correct.setText(self.tr("Write {name}").format(name=name).replace("&", "&&"))
        self._edit.setAccessibleDescription(" ".join(text for text in texts.values() if text))
        spots = [*map(_spot, hints), *self._lost_loras(check.text)]
        if self._unknown is not None and self._unknown.text == check.text:
            spots += [(word.position, len(word.word)) for word in self._unknown.words]
        self._edit.mark(check.text, check.cut_at, spots, check.chunk_starts)

    def _write_name(self) -> None:
        """Write the embedding's name in place of the slip that the first hint points at."""
        hint = self._state.hints[0] if self._state.hints else None
        text = self._edit.toPlainText()
        if hint is None or hint.kind is not HintKind.NEAR_NAME or text != self._state.check.text:
            return
        self._edit.write(hint.position, hint.length, str(hint.subject))

    def _lost_loras(self, text: str) -> list[tuple[int, int]]:
        """Return the places of LoRAs that are not found; the rows of LoRAs offer the remedy."""
        if self._state is not self._session.prompts.prompt:
            return []
        lost = [re.escape(lora.name) for lora in self._session.lora_list.named if lora.info is None]
        if not lost:
            return []
        tag = re.compile(rf"<(?:lora|lyco|loractl):\s*(?:{'|'.join(lost)})\s*(?=[:>])")
        return [(found.start(), len(found[0])) for found in tag.finditer(text)]

    def _takes(self, text: str) -> bool:
        """Fill the form from a pasted text with settings; return False for any other text."""
        tells = tells_settings(text)
        if tells:
            self._session.pictures.use_text(text)
        return tells


def _spot(hint: Hint) -> tuple[int, int]:
    return hint.position, hint.length
