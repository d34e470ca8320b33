"""The folders of the application."""

import os
from pathlib import Path

import platformdirs
import pytest

from app.paths import find_paths


def test_each_folder_can_be_moved(tmp_path: Path) -> None:
    names = ("output", "cache", "models", "wildcards", "state", "logs")
    environment = {f"SAFELIGHT_{name.upper()}": str(tmp_path / name) for name in names}
    paths = find_paths(environment)
    assert [getattr(paths, name) for name in names] == [tmp_path / name for name in names]


# Fields that are several folders.
_SEVERAL = ("loras", "embeddings")


def test_the_systems_folders_are_apart_from_each_other() -> None:
    paths = find_paths({"SAFELIGHT_STATE": ""})
    folders = [getattr(paths, name) for name in paths.__struct_fields__ if name not in _SEVERAL]
    assert len(set(folders)) == len(folders)
    assert all(folder.is_absolute() for folder in folders)


@pytest.mark.parametrize("kind", ["loras", "embeddings"])
def test_several_folders_of_a_kind_can_be_named(kind: str, tmp_path: Path) -> None:
    named = tmp_path / "webui", tmp_path / kind
    variables = {f"SAFELIGHT_{kind.upper()}": os.pathsep.join(map(str, named))}
    assert getattr(find_paths(variables), kind) == named
    assert getattr(find_paths({}), kind) == ()


def test_home_is_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert find_paths({"SAFELIGHT_LOGS": "~/logs"}).logs == tmp_path / "logs"


def test_versions_are_in_the_users_data_where_the_launcher_finds_them_by_itself() -> None:
    data = platformdirs.user_data_path("safelight", appauthor=False)
    assert find_paths({**os.environ, "SAFELIGHT_VERSIONS": ""}).versions == data / "versions"
