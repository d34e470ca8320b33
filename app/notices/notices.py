"""Notices to the user: failures with their remedies, and notes."""

import time
from collections import deque
from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Signal

from app.notices.kinds import actions, explanation, title
from app.notices.remedies import NoticeAction
from app.notices.wording import worded
from engine.api.sentences import Sentence
from engine.api.values import ErrorInfo

# Older ones are dropped: nobody reads a hundred, and the log has them.
_MOST = 20
_MOST_TOLD = 200


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """A notice to the user; `error` is None for a note, which is no failure and has no title.

    `details` are further sentences. `actions` are its buttons, the best first; `subjects` are the
    jobs that failed, `pictures` the paths of those that SHOW_PICTURES shows; `undo` reverts the
    change that the notice reports. Of notices of one `topic` the next replaces the one before: what
    that says holds no longer.
    """

    number: int
    message: str
    title: str = ""
    hint: str = ""
    details: tuple[str, ...] = ()
    error: ErrorInfo | None = None
    actions: tuple[NoticeAction, ...] = ()
    subjects: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    topic: str = ""
    undo: Callable[[], None] | None = None


class ToldNotice(msgspec.Struct, frozen=True):
    """The texts of a notice as they were told, and the moment, in ns since 1970."""

    at_ns: int
    title: str
    message: str
    hint: str
    details: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The texts that there are, the title first."""
        return tuple(filter(None, (self.title, self.message, self.hint, *self.details)))


class NoticeState(QObject):
    """The notices that are not dismissed, newest last."""

    changed = Signal()
    # A notice was told.
    added = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.notices: tuple[Notice, ...] = ()
        # Those with an `undo` that was not used, dismissed ones too: newest last.
        self._changes: tuple[Notice, ...] = ()
        # Everything that was told in this session, newest last.
        self.told: deque[ToldNotice] = deque(maxlen=_MOST_TOLD)
        self._next = 0

    def tell_error(self, error: ErrorInfo, *, job: str | None = None) -> int:
        """Add a notice of a failure, and of the `job` that it ended.

        A notice of the same reason is replaced, and its jobs are taken over. Returns its number.
        """
        return self._add(
            Notice(
                number=self._next,
                title=title(error.code),
                message=worded(error.text),
                hint=explanation(error),
                error=error,
                actions=actions(error, of_a_job=job is not None),
                subjects=() if job is None else (job,),
            )
        )

    def tell(
        self,
        message: str,
        hint: str = "",
        *,
        details: tuple[str, ...] = (),
        actions: tuple[NoticeAction, ...] = (),
        pictures: tuple[str, ...] = (),
        topic: str = "",
        undo: Callable[[], None] | None = None,
    ) -> None:
        """Add a notice that is no failure."""
        self._add(
            Notice(
                number=self._next,
                message=message,
                hint=hint,
                details=details,
                actions=actions,
                pictures=pictures,
                topic=topic,
                undo=undo,
            )
        )

    @property
    def latest_change(self) -> Notice | None:
        """The latest notice of a change that can still be reverted, also after it was dismissed."""
        return self._changes[-1] if self._changes else None

    def revert(self, notice: Notice) -> None:
        """Revert the change that a notice reports.

        What that tells is no latest change, so that reverting again reaches the change before.
        """
        left = tuple(change for change in self._changes if change.number != notice.number)
        if notice.undo is not None:
            notice.undo()
        self._changes = left

    def keep_change(self, undo: Callable[[], None]) -> None:
        """Keep a change that is plain to see, and not told, to be reverted as the others are."""
        self._keep(Notice(number=self._next, message="", undo=undo))
        self._next += 1

    def end_topic(self, topic: str) -> None:
        """Remove the notice of a topic, as what it says holds no longer; it can be undone still."""
        self._set(tuple(notice for notice in self.notices if notice.topic != topic))

    def dismiss(self, number: int) -> None:
        """Remove the notice with this number."""
        self._set(tuple(notice for notice in self.notices if notice.number != number))

    def _add(self, notice: Notice) -> int:
        self._next += 1
        if notice.undo is not None:
            self._keep(notice)
        reason = _reason(notice)
        topic = notice.topic
        same = [n for n in self.notices if _reason(n) == reason or (topic and n.topic == topic)]
        if notice.error is not None:
            # Several jobs that failed for one reason are dismissed, or tried again, together.
            jobs = dict.fromkeys(job for n in (*same, notice) for job in n.subjects)
            notice = msgspec.structs.replace(notice, subjects=tuple(jobs))
        self._note(notice)
        self._set((*(n for n in self.notices if n not in same), notice)[-_MOST:])
        return notice.number

    def _note(self, notice: Notice) -> None:
        """Keep what a notice says; of the same that is told again and again the latest alone."""
        told = ToldNotice(time.time_ns(), notice.title, notice.message, notice.hint, notice.details)
        if self.told and self.told[-1].lines == told.lines:
            self.told.pop()
        self.told.append(told)
        self.added.emit()

    def _keep(self, change: Notice) -> None:
        self._changes = (*self._changes, change)[-_MOST:]

    def _set(self, notices: tuple[Notice, ...]) -> None:
        if notices != self.notices:
            self.notices = notices
            self.changed.emit()


def _reason(notice: Notice) -> tuple[object, ...]:
    """Return what notices of the same reason share: their words, of failures without numbers."""
    text = notice.error.text if notice.error is not None else None
    if not isinstance(text, Sentence):
        return notice.message, notice.hint, notice.details
    # Each picture of a batch needs another number of bytes.
    words = tuple(value for value in text.values if not isinstance(value[1], int | float))
    return text.template, words, notice.hint, notice.details
