"""Notices: newest last, none twice, at most twenty."""

from app.notices.notices import NoticeState
from app.notices.remedies import NoticeAction
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo

ERROR = ErrorInfo(ErrorCode.DISK_FULL, "The disk is full.", "Make room.")


def messages(state: NoticeState) -> list[str]:
    return [notice.message for notice in state.notices]


def test_the_newest_is_last_and_the_same_again_is_told_once() -> None:
    state = NoticeState()
    state.tell_error(ERROR)
    state.tell("A note.")
    state.tell_error(ERROR, job="a-0")
    assert messages(state) == ["A note.", "The disk is full."]
    assert state.notices[-1].actions == (NoticeAction.FREE_SPACE, NoticeAction.RETRY)
    assert state.notices[-1].error == ERROR


def test_a_dismissed_notice_is_gone() -> None:
    state, told = NoticeState(), list[int]()
    state.tell("One.")
    state.tell("Two.")
    state.changed.connect(lambda: told.append(len(state.notices)))
    state.dismiss(state.notices[-1].number)
    state.dismiss(99)
    assert messages(state) == ["One."]
    assert told == [1]


def test_changes_are_reverted_one_after_another_also_after_their_notices_left() -> None:
    # Once ten seconds were all the time to take back a picture that was thrown away.
    state, done = NoticeState(), list[str]()

    def revert(name: str) -> None:
        done.append(name)
        # As the form does: its undoing can be undone by the button of this notice.
        state.tell(f"{name} is back.", undo=lambda: done.append(f"not {name}"))

    for name in ("a", "b"):
        state.tell(f"{name} is gone.", undo=lambda name=name: revert(name))
        state.dismiss(state.notices[-1].number)
    for _ in range(2):
        latest = state.latest_change
        assert latest is not None
        state.revert(latest)
    assert done == ["b", "a"]
    assert state.latest_change is None


def test_old_ones_give_way() -> None:
    state = NoticeState()
    for number in range(1000):
        state.tell(f"Note {number}.")
    assert messages(state)[-1] == "Note 999."
    assert len(state.notices) == 20


def test_pictures_that_failed_for_one_reason_are_one_notice_whatever_their_bytes() -> None:
    state = NoticeState()
    for number, folder in enumerate(("a", "a", "b", "a")):
        text = sentence("No room in {folder}: {size:.1f} MB.", folder=folder, size=number / 3)
        state.tell_error(ErrorInfo(ErrorCode.DISK_FULL, text), job=str(number))
    assert [notice.subjects for notice in state.notices] == [("2",), ("0", "1", "3")]
    assert messages(state)[-1] == "No room in a: 1.0 MB."
