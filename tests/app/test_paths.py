"""The folders of the application."""

import os
from dataclasses import fields
from pathlib import Path

import pytest

from app.paths import find_paths


def test_each_folder_can_be_moved(tmp_path: Path) -> None:
    names = ("output", "cache", "models", "wildcards", "state", "logs")
    environment = {f"SAFELIGHT_{name.upper()}": str(tmp_path / name) for name in names}
    paths = find_paths(environment)
    assert [getattr(paths, name) for name in names] == [tmp_path / name for name in names]


def test_the_systems_folders_are_apart_from_each_other() -> None:
    paths = find_paths({"SAFELIGHT_STATE": ""})
    folders = [getattr(paths, field.name) for field in fields(paths) if field.name != "loras"]
    assert len(set(folders)) == 6
    assert all(folder.is_absolute() for folder in folders)


def test_several_folders_of_loras_can_be_named(tmp_path: Path) -> None:
    named = tmp_path / "webui", tmp_path / "loras"
    assert find_paths({"SAFELIGHT_LORAS": os.pathsep.join(map(str, named))}).loras == named
    assert find_paths({}).loras == ()


def test_home_is_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert find_paths({"SAFELIGHT_LOGS": "~/logs"}).logs == tmp_path / "logs"
