"""Stated files are looked for on the disk and by the engine, which may end meanwhile."""

from pathlib import Path

import pytest

from app.library.moved_files import MovedFiles
from engine.api.messages import QueryFailed
from engine.api.model_messages import ModelFound
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.sessions import Staged

DIGEST = "ab" * 32


class Asked:
    """The queries for moved files; the engine, which is not started, answers none by itself."""

    def __init__(self, staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
        self.staged, self.queries = staged, list[int]()
        client = staged.session.client
        find = client.find_model

        def find_and_note(stated: str, digest: str) -> int:
            self.queries.append(find(stated, digest))
            return self.queries[-1]

        monkeypatch.setattr(client, "find_model", find_and_note)

    @property
    def moved(self) -> MovedFiles:
        return self.staged.session.models.moved

    def wait_for(self, count: int) -> int:
        """Return the number of the query that is the `count`-th."""
        self.staged.wait(lambda: len(self.queries) >= count)
        return self.queries[count - 1]

    def fail(self, query: int, code: ErrorCode) -> None:
        error = ErrorInfo(code, sentence("It ended."))
        self.staged.session.client.query_failed.emit(QueryFailed(query=query, error=error))

    def find(self, query: int, path: str | None) -> None:
        self.staged.session.client.model_found.emit(ModelFound(query=query, path=path))


@pytest.fixture
def asked(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(staged, monkeypatch)


def test_an_engine_that_ends_says_nothing_of_where_a_file_is(asked: Asked) -> None:
    stated = "/elsewhere/a.safetensors"
    assert asked.moved.place(stated, DIGEST) == stated
    asked.fail(asked.wait_for(1), ErrorCode.ENGINE_CRASHED)
    assert asked.moved.place(stated, DIGEST) == stated
    # The next engine is asked, and no third one: the file may be why they end.
    asked.fail(asked.wait_for(2), ErrorCode.ENGINE_CRASHED)
    assert asked.moved.place(stated, DIGEST) == stated
    assert len(asked.queries) == 2
    asked.moved.look_again()
    asked.find(asked.wait_for(3), "/here/a.safetensors")
    assert asked.moved.place(stated, DIGEST) == "/here/a.safetensors"


def test_an_answer_to_an_older_look_does_not_hide_a_file_that_was_put_back(
    asked: Asked, tmp_path: Path
) -> None:
    stated = tmp_path / "a.safetensors"
    assert asked.moved.place(str(stated), DIGEST) == str(stated)
    older = asked.wait_for(1)
    looked: list[None] = []
    asked.find(older, None)
    assert asked.moved.place(str(stated), DIGEST) is None
    asked.moved.look_again()
    older = asked.wait_for(2)
    stated.touch()
    asked.moved.changed.connect(lambda: looked.append(None))
    asked.moved.look_again()
    asked.staged.wait(lambda: bool(looked))
    asked.find(older, None)
    assert asked.moved.place(str(stated), DIGEST) == str(stated)
