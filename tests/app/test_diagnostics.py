"""A report has facts, and nothing private."""

import json
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.diagnostics import collect
from app.redaction import redacted
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

PROMPT = "my very secret prompt"


def test_private_texts_are_left_out() -> None:
    text = "\n".join(
        (
            "/home/ann/Pictures/00001-7-my-very-secret-prompt.png",
            json.dumps({"text": "/home/ann/x", "prompt": 'a "quoted"\nprompt'}),
            f"made {PROMPT} for ann, and annual reports",
            "MY-VERY-SECRET-PROMPT stays of another case",
        )
    )
    found = redacted(text, (PROMPT, 'a "quoted"\nprompt', "ab"), home="/home/ann", user="ann")
    assert "/home/ann" not in found
    assert "very-secret" not in found
    assert "quoted" not in found
    assert "for [user], and annual reports" in found
    assert "[picture].png" in found


def test_a_windows_home_is_left_out_in_every_spelling() -> None:
    home = r"C:\Users\Ann"
    text = "\n".join((home, json.dumps(home), "C:/Users/Ann/x"))
    assert "Ann" not in redacted(text, (), home=home, user="Ann")


def test_a_session_is_reported_without_its_prompts(tmp_path: Path, qtbot: QtBot) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK).start()
    session = staged.session
    session.generation.prompt = PROMPT
    session.settings.change(quality=80)
    staged.paths.logs.mkdir(parents=True, exist_ok=True)
    (staged.paths.logs / "app.log").write_text(f"a line about {PROMPT}\n")
    text = collect(session, staged.paths.logs).text()
    staged.end()
    assert text.startswith("Safelight ")
    assert "Setting: quality = 80" in text
    assert "a line about [prompt]" in text
    assert PROMPT not in text
