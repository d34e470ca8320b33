"""`safelight packs`: what there is, and what each action says."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import packs as command
from app.cli import run
from app.cli.remedy_words import remedy_words
from app.packs.catalogue import Catalogue, Licence, Pack, Platform
from engine.api.remedies import InstallPack
from tests.app.packs.made import a_pack

Shown = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shown:
    """Run a command on packs made of small wheels; return its status and both outputs."""
    monkeypatch.setenv("SAFELIGHT_PACKS", str(tmp_path / "packs of Zoë"))
    wheels = tmp_path / "wheels"
    licensed = (Licence("Terms", "https://terms.test", proprietary=True),)
    bound = Pack(
        **{
            name: getattr(pack, name)
            for pack in [a_pack(wheels, name="bound")]
            for name in pack.__struct_fields__
            if name != "licences"
        },
        licences=licensed,
    )
    nowhere = Pack(id="nowhere", title="Nowhere", summary="None.", unavailable="Nobody has it.")
    catalogue = Catalogue([a_pack(wheels), bound, nowhere])
    monkeypatch.setattr(command.Catalogue, "read", lambda: catalogue)

    def show(*arguments: str) -> tuple[int, str, str]:
        status = run(["packs", *arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return show


def listed(shown: Shown) -> dict[str, dict[str, Any]]:
    return {pack["id"]: pack for pack in json.loads(shown("list", "--json")[1])["packs"]}


def test_the_line_of_progress_is_gone_when_a_pack_is_in_use(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    status, _, drawn = shown("install", "tiny", "--from", str(tmp_path / "wheels"))
    assert status == 0
    assert "Trying it" in drawn
    assert re.search(r"\r +\r$", drawn)


def test_json_is_asked_for_before_or_after_the_action(shown: Shown) -> None:
    for action in (["list"], ["show", "tiny"]):
        assert json.loads(shown("--json", *action)[1]) == json.loads(shown(*action, "--json")[1])


def test_a_pack_is_installed_listed_repaired_and_removed(shown: Shown, tmp_path: Path) -> None:
    wheels = str(tmp_path / "wheels")
    assert listed(shown)["tiny"]["installed"] == ""
    status, said, notes = shown("install", "tiny", "--from", wheels)
    assert (status, said) == (0, "Tiny 1.0 is in use. It starts.\n")
    assert f"Tiny 1.0 from {wheels}" in notes
    assert listed(shown)["tiny"]["installed"] == "1.0"
    assert "in use: 1.0" in shown()[1]
    library = next((tmp_path / "packs of Zoë").rglob("libtiny.so"))
    library.unlink()
    status, said, _ = shown("repair", "tiny", "--from", wheels)
    assert status == 0
    assert "tiny_runtime/libtiny.so was damaged or missing and is in place again." in said
    assert shown("remove", "tiny")[:2] == (0, "tiny is removed.\n")
    assert listed(shown)["tiny"]["installed"] == ""


def test_a_licence_that_is_not_free_is_shown_and_accepted_first(
    shown: Shown, tmp_path: Path
) -> None:
    wheels = str(tmp_path / "wheels")
    status, _, notes = shown("install", "bound", "--from", wheels)
    assert status == 1
    assert "Licence: Terms, https://terms.test" in notes
    assert "Nothing is installed, because the licences were not accepted." in notes
    assert listed(shown)["bound"]["installed"] == ""
    assert shown("install", "bound", "--from", wheels, "--accept-licences")[0] == 0


def test_a_pack_that_nobody_publishes_cannot_be_installed(shown: Shown) -> None:
    status, _, notes = shown("install", "nowhere")
    assert status == 1
    assert "Nowhere cannot be installed here. Nobody has it." in notes
    assert "not here: Nobody has it." in shown("show", "nowhere")[1]


def test_an_action_on_what_is_not_there_is_a_failure(shown: Shown) -> None:
    for action, words in (
        ("remove", "is not installed"),
        ("repair", "is not installed"),
        ("roll-back", "no earlier version"),
    ):
        status, _, notes = shown(action, "tiny")
        assert (status, words in notes) == (1, True)


@pytest.mark.parametrize(
    ("platform", "pack", "words"),
    [
        (
            Platform("linux", "x86_64", "3.13"),
            "intel-openvino",
            "Install it: `safelight packs install intel-openvino`, 59 MB.",
        ),
        (
            Platform("linux", "x86_64", "3.11"),
            "intel-openvino",
            "Install it: `python -m pip install --editable '.[intel-openvino]'`.",
        ),
        (
            Platform("linux", "x86_64", "3.13"),
            "torch-rocm",
            "The runtime pack PyTorch for ROCm has it. PyTorch publishes it on",
        ),
    ],
    ids=["installed app", "checkout", "nobody's"],
)
def test_the_remedy_names_the_pack_or_the_extra(
    platform: Platform, pack: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = Catalogue.read(platform=platform)
    monkeypatch.setattr("app.cli.remedy_words.Catalogue.read", lambda: catalogue)
    assert remedy_words(InstallPack(pack=pack)).startswith(words)
