"""A prompt field with its token count, and remarks on text without effect and on mistakes."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.form.prompt_state import PromptState
from engine.api.prompts import HintKind
from ui.labels import cut_text, hint_text, token_count
from ui.theme.metrics import XS, S
from ui.widgets.labels import breakable, buddy_label, plain_label
from ui.widgets.prompt_edit import PromptEdit


class PromptPanel(QWidget):
    """A prompt field with its name and token count above and any remarks below."""

    def __init__(self, name: str, edit: PromptEdit, state: PromptState) -> None:
        super().__init__()
        self._edit, self._state = edit, state
        # The count is beside the name, so that nothing moves when it appears.
        self.count = plain_label("", "caption")
        self.cut = plain_label("", "note", wrap=True)
        self.hint = plain_label("", "note", wrap=True)
        self.problem = plain_label("", "error", wrap=True)
        head = QHBoxLayout()
        head.setSpacing(S)
        head.addWidget(buddy_label(name, edit))
        head.addStretch(1)
        head.addWidget(self.count)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addLayout(head)
        for widget in (edit, self.cut, self.problem, self.hint):
            column.addWidget(widget)
        state.check_changed.connect(self._show)
        state.hints_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        check, hints = self._state.check, self._state.hints
        # Only the first hint has a sentence; the places of all are underlined.
        hint = hints[0] if hints else None
        refused = hint is not None and hint.kind is HintKind.REFUSED
        sentence = hint_text(hint) if hint else ""
        texts = {
            self.count: token_count(check) if check.text.strip() else "",
            self.cut: cut_text(check),
            self.problem: sentence if refused else "",
            self.hint: "" if refused else sentence,
        }
        for label, text in texts.items():
            label.setText(breakable(text))
            label.setVisible(bool(text))
        self._edit.setAccessibleDescription(" ".join(text for text in texts.values() if text))
        self._edit.mark(check.text, check.cut_at, [(hint.position, hint.length) for hint in hints])
