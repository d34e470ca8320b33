"""`safelight updates`."""

import json
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from app.cli import run
from app.cli import updates as command
from app.paths import find_paths
from app.updates.signatures import KEYS_VARIABLE
from app.versions.state import read_state
from app.versions.trees import read_tree
from installers.update_manifest import main, public_key
from tests.app.updates.publishing import Publisher
from tests.app.updates.trees import NEW, OLD, make_tree, pack


@pytest.fixture(autouse=True)
def of_the_tree(  # pyright: ignore[reportUnusedFunction]
    installed: Path, key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "own_tree", lambda: read_tree(str(installed)))
    monkeypatch.setenv(KEYS_VARIABLE, public_key(key))


def test_a_version_is_found_installed_and_left(
    publisher: Publisher, capsys: pytest.CaptureFixture[str]
) -> None:
    publisher.publish(NEW)
    place = ["--from", str(publisher.folder)]
    assert run(["updates", "check", *place]) == 0
    assert f"Version {NEW}" in capsys.readouterr().out
    assert read_state(str(find_paths().versions)).active == ""
    assert run(["updates", "install", *place]) == 0
    assert f"Version {NEW} begins with the next start." in capsys.readouterr().out
    assert run(["updates", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["next_version"], told["back_to"]) == (OLD, NEW, OLD)
    assert run(["updates", "back"]) == 0
    assert f"Version {OLD} begins" in capsys.readouterr().out
    assert run(["updates", "back"]) == 1
    assert "no version before" in capsys.readouterr().err


def test_the_status_asks_nobody(publisher: Publisher, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["updates", "--from", str(publisher.folder)]) == 0
    out = capsys.readouterr().out
    assert f"This is version {OLD}." in out
    assert str(publisher.folder) in out


def test_an_offer_is_json(publisher: Publisher, capsys: pytest.CaptureFixture[str]) -> None:
    publisher.publish(NEW)
    assert run(["updates", "check", "--json", "--from", str(publisher.folder)]) == 0
    assert json.loads(capsys.readouterr().out)["offer"]["version"] == NEW


def test_a_failure_is_one_sentence_and_a_hint(
    publisher: Publisher, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["updates", "check", "--from", str(publisher.folder)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("safelight: There is no list of updates at ")
    assert err.count("\n") == 1


def test_without_a_place_the_command_says_how_to_name_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["updates", "check"]) == 1
    assert "SAFELIGHT_UPDATES" in capsys.readouterr().err


def test_a_publisher_makes_keys_and_lists_by_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "private"
    assert main(["key", str(key)]) == 0
    monkeypatch.setenv(KEYS_VARIABLE, capsys.readouterr().out.strip())
    assert key.stat().st_mode & 0o077 == 0
    assert main(["key", str(key)]) == 1
    notes = tmp_path / "notes.txt"
    notes.write_text("Faster.\n")
    archive = pack(make_tree(tmp_path / "tree", NEW), tmp_path / "packed")
    folder = tmp_path / "host"
    arguments = ["add", "--key", str(key), "--notes", str(notes), str(folder), str(archive)]
    assert main(arguments) == 0
    capsys.readouterr()
    assert run(["updates", "check", "--from", str(folder)]) == 0
    assert "  Faster.\n" in capsys.readouterr().out
