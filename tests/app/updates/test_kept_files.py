"""A person who goes back finds the form and the settings that the older version left."""

import re
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest

import app as app_package
from app.form.fields import Form
from app.form.last_session import FILE, LastSession, encode, read_last_session
from app.queue.queue_journal import queue_journal
from app.updates.running import RunningVersion
from app.versions.kept_files import forget_files, keep_files, kept_file
from app.versions.state import change_state
from app.versions.trees import Tree, tree_folder
from engine.api.values import ErrorCode, SamplerName
from tests.app.updates.trees import NEW, Home

OWN = version("safelight")
FORM = LastSession(form=Form(prompt="a boat", steps=9))
NEWER = encode(msgspec.structs.replace(FORM, version=99))
# The same version of the file, with a word that only a newer Safelight knows.
UNKNOWN = encode(LastSession(form=Form(sampler=SamplerName.HEUN))).replace(b"heun", b"new one")


@pytest.mark.parametrize("content", [NEWER, UNKNOWN])
def test_a_form_of_a_newer_version_gives_way_to_the_one_before_the_update(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / FILE).write_bytes(encode(FORM))
    keep_files(tmp_path, OWN)
    (tmp_path / FILE).write_bytes(content)
    last, problem = read_last_session(tmp_path)
    assert last == FORM
    assert problem is not None
    assert problem.code is ErrorCode.SESSION_UNREADABLE
    assert "before the update" in problem.message
    kept = [path for path in tmp_path.glob(f"{FILE}.*") if path.read_bytes() == content]
    assert len(kept) == 1
    assert str(kept[0]) in problem.hint


def test_the_copies_of_another_version_are_not_used(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(encode(FORM))
    keep_files(tmp_path, "0.0.9")
    (tmp_path / FILE).write_bytes(NEWER)
    last, problem = read_last_session(tmp_path)
    assert last is None
    assert problem is not None


def test_every_small_document_of_ours_is_copied(tmp_path: Path) -> None:
    """A kind that is new is among the files that are copied, unless it is a list of work."""
    app = Path(app_package.__file__).parent
    kinds = [path for path in app.rglob("*.py") if " DocumentKind(" in path.read_text()]
    kept = {
        name
        for path in kinds
        for name in re.findall(r'^_?FILE = "([^"]+)"', path.read_text(), re.MULTILINE)
    }
    assert len(kept) > 8
    for name in {*kept, "settings.toml"}:
        (tmp_path / name).touch()
    keep_files(tmp_path, OWN)
    left = {path.name for path in kept_file(tmp_path / "a", OWN).parent.iterdir()}
    assert left >= {*kept, "settings.toml"} - {"downloads.json"}


def test_files_are_copied_once_and_anew_for_the_next_update(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_bytes(b"first")
    keep_files(tmp_path, OWN)
    path.write_bytes(b"of the newer one")
    keep_files(tmp_path, OWN)
    assert kept_file(path, OWN).read_bytes() == b"first"
    forget_files(tmp_path, OWN)
    path.write_bytes(b"second")
    keep_files(tmp_path, OWN)
    assert kept_file(path, OWN).read_bytes() == b"second"


def test_a_version_on_trial_keeps_the_files_of_the_one_before_it(home: Home) -> None:
    home.state.mkdir()
    (home.state / FILE).write_bytes(encode(FORM))
    running = RunningVersion(home.versions, Tree(tree_folder(str(home.versions), NEW), NEW))
    running.keep_files(home.state)
    assert not kept_file(home.state / FILE, OWN).exists()
    change_state(home.versions, lambda state: state.activated(NEW, OWN))
    running.keep_files(home.state)
    assert kept_file(home.state / FILE, OWN).read_bytes() == encode(FORM)


def test_a_queue_of_a_newer_version_is_put_aside_whole(tmp_path: Path) -> None:
    """The copy from before the update is not taken: its jobs may be done."""
    journal = queue_journal(tmp_path)
    content = b'{"journal":99,"kind":"queue"}\n{"what":"ever"}\n'
    journal.path.write_bytes(content)
    read = journal.read()
    assert read.entries == ()
    assert read.problem is not None
    (aside,) = tmp_path.glob("queue.jsonl.newer-*")
    assert aside.read_bytes() == content
