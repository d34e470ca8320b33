"""The form as it was before each change, to go back to and forward again."""

from collections import deque
from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, QTimer

from app.form.fields import Form
from app.form.generation import GenerationState

# Changes that follow each other so soon are one: of a slider that is dragged, of a typed word.
_MOMENT_MS = 500
_MOST = 100
_SEED, _IS_SEED_KEPT = "seed", "seed_locked"

Put = Callable[[Form], None]


class FormHistory(QObject):
    """Steps between the states that a form had in this session, whatever changed them.

    A seed that is not kept belongs to the latest picture: that it changes is no step, and steps
    leave it as it is.
    """

    def __init__(self, form: GenerationState, parent: QObject | None = None) -> None:
        """Begin with the form as it is now."""
        super().__init__(parent)
        self._form, self._now = form, form.form
        self._past: deque[Form] = deque(maxlen=_MOST)
        self._future: deque[Form] = deque(maxlen=_MOST)
        self._moment = QTimer(self, singleShot=True, interval=_MOMENT_MS)
        self._moment.timeout.connect(self._note)
        form.changed.connect(self._moment.start)

    def back(self, put: Put) -> None:
        """Call `put` with the values before the latest change; not without one."""
        self._note()
        self._step(self._past, self._future, put)

    def forward(self, put: Put) -> None:
        """Call `put` with the values that the latest `back` left; not after another change."""
        self._note()
        self._step(self._future, self._past, put)

    def _step(self, source: deque[Form], target: deque[Form], put: Put) -> None:
        if source:
            target.append(self._now)
            put(_with_seed(source.pop(), self._form.form))
            # As the form is by itself what another change is told from.
            self._moment.stop()
            self._now = self._form.form

    def _note(self) -> None:
        """Note the form as it is now, if it is another one."""
        self._moment.stop()
        before, self._now = self._now, self._form.form
        if _with_seed(before, self._now) != self._now:
            self._past.append(before)
            self._future.clear()


def _with_seed(form: Form, now: Form) -> Form:
    """Return a form with the seed of now, unless either keeps its own."""
    if any(getattr(state, _IS_SEED_KEPT) for state in (form, now)):
        return form
    return msgspec.structs.replace(form, **{_SEED: getattr(now, _SEED)})
