"""Whatever the command line writes can be shown and encoded, whatever files are called."""

import io
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from app.cli import run
from app.paths import find_paths
from tests.checkpoints.files import write_sparse
from tests.families.test_identify import SMALL

# Not UTF-8, an escape sequence, a line break.
NAME = b"caf\xe9\x1b[31m\nred"
SHOWN = "caf\ufffd\ufffd[31m\ufffdred"


@pytest.fixture
def odd() -> Path:
    """A checkpoint of that name in the models folder."""
    folder = find_paths().models
    folder.mkdir(parents=True)
    path = Path(os.fsdecode(os.fsencode(folder) + b"/" + NAME + b".safetensors"))
    try:
        return write_sparse(path, SMALL)
    except OSError:
        pytest.skip("names are UTF-8 here")


COMMANDS = (
    ("models",),
    ("inspect", "{path}"),
    ("inspect", "{path}.gone"),
    ("inspect", "{path}", "{path}"),
    ("generate", "a house", "--model", "{path}.gone"),
    ("generate", "a house", "--model", "{path}"),
    ("generate", "a house", "--from", "{path}"),
    ("generate", "a house", "--init", "{path}"),
    ("bench", "{path}"),
    ("cache",),
    ("devices",),
)


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_writes_what_can_be_shown(
    odd: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], as_json: bool
) -> None:
    arguments = [part.format(path=odd) for part in command] + ["--json"] * as_json
    with suppress(SystemExit):
        run(arguments)
    written = capsys.readouterr()
    for text in written:
        text.encode()
        assert all(line.isprintable() for line in text.split("\n"))
    if as_json and written.out:
        json.loads(written.out)


def test_models_keeps_its_table(odd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models"]) == 0
    assert any(line.startswith(SHOWN) for line in capsys.readouterr().out.splitlines())


def test_json_has_the_path_itself(odd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "--json"]) == 0
    written = capsys.readouterr().out
    assert written.isascii()
    assert str(odd) in [model["path"] for model in json.loads(written)["models"]]


def test_a_terminal_without_utf_8_gets_what_it_can_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_sparse(tmp_path / "naïve é.safetensors", SMALL)
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    assert run(["inspect", str(path)]) == 0
    assert b"na?ve ?.safetensors" in shown.getvalue()


def test_a_prompt_without_quotes_is_told_about_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(["generate", "a", "fox"])
    assert caught.value.code == 2
    assert "a prompt of several words goes in quotes" in capsys.readouterr().err
