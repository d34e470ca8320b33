"""Every code of a failure has its title, its meaning and a decision about its remedies."""

from typing import get_args

import pytest

from app.notices.kinds import KINDS, actions, explanation, title
from app.notices.remedies import OF_A_JOB, NoticeAction, actions_of
from engine.api.remedies import MakeSmaller, Remedy
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.test_remedies import EACH

# Failures after which there is nothing to do: nothing failed, or the picture was made all the same.
WITHOUT_REMEDY = {ErrorCode.CANCELLED, ErrorCode.LORA_REMARK, ErrorCode.EMBEDDING_REMARK}
# Buttons of notes, which are no failures.
OF_NOTES = {
    NoticeAction.UNDO_CHANGE,
    NoticeAction.UNDO_TRASH,
    NoticeAction.MAKE_AGAIN,
    NoticeAction.CANCEL_ALL,
    NoticeAction.RESUME,
    NoticeAction.SHOW_PICTURES,
}


def test_no_code_is_left_out() -> None:
    assert set(KINDS) == set(ErrorCode), "each code has its words in app/notices/kinds.py"


@pytest.mark.parametrize("code", ErrorCode)
def test_a_code_has_a_title_and_a_meaning(code: ErrorCode) -> None:
    name = title(code)
    assert 4 < len(name) < 60
    assert name[-1] not in ".!"
    meaning = explanation(ErrorInfo(code, "Something."))
    assert meaning.endswith(".")
    assert meaning != name


@pytest.mark.parametrize("code", ErrorCode)
def test_a_failed_picture_has_a_remedy_unless_there_is_nothing_to_do(code: ErrorCode) -> None:
    offered = actions(ErrorInfo(code, "Something."), of_a_job=True)
    assert (offered == ()) == (code in WITHOUT_REMEDY), (
        "its actions are in app/notices/kinds.py; where nothing can be done it is in WITHOUT_REMEDY"
    )
    assert not set(offered) & OF_NOTES


def test_every_action_is_offered_by_a_code_or_a_remedy() -> None:
    of_codes = {action for kind in KINDS.values() for action in kind.actions}
    of_remedies = {action for remedy in EACH for action in actions_of(remedy)}
    assert of_codes | of_remedies | OF_NOTES == set(NoticeAction), (
        "a button of notes alone is in OF_NOTES; the others are in app/notices/kinds.py or in"
        " actions_of of app/notices/remedies.py"
    )


def test_every_remedy_has_an_action() -> None:
    assert {type(remedy) for remedy in EACH if actions_of(remedy)} == set(get_args(Remedy))


def test_the_remedies_of_a_failure_come_before_those_of_its_code() -> None:
    error = ErrorInfo(ErrorCode.BACKEND_FAILED, "It failed.", remedies=(MakeSmaller(),))
    assert actions(error, of_a_job=True)[:2] == (
        NoticeAction.RETRY_SMALLER,
        NoticeAction.RETRY_ON_ANOTHER,
    )


def test_remedies_of_a_picture_are_offered_for_pictures_only() -> None:
    for code in ErrorCode:
        assert not set(actions(ErrorInfo(code, "No."), of_a_job=False)) & OF_A_JOB


def test_a_failures_own_advice_takes_the_place_of_the_meaning() -> None:
    own = ErrorInfo(ErrorCode.DISK_FULL, "Full.", sentence("Delete something."))
    assert explanation(own) == "Delete something."
    assert explanation(ErrorInfo(ErrorCode.DISK_FULL, "Full.")) != ""
