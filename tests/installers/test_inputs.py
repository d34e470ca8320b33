"""Pinned files: the list itself, and the check of what was downloaded."""

import hashlib
from pathlib import Path

import pytest

from installers.inputs import File, InputError, Target, check, fetch, read_inputs
from installers.lock import toml
from installers.trimming import read_trim

PUBLIC = (
    "https://files.pythonhosted.org/",
    "https://deb.debian.org/",
    "https://registry.npmjs.org/",
    "https://github.com/astral-sh/python-build-standalone/releases/download/",
)


def pinned(path: Path, content: bytes) -> File:
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return File("name", "1", path.as_uri(), len(content), digest, (Target.LINUX,))


def test_all_inputs_come_from_public_archives():
    inputs = read_inputs()
    for file in (*inputs.wheels, *inputs.files):
        assert file.url.startswith(PUBLIC), file.url
        assert len(file.sha256) == 64


@pytest.mark.parametrize("target", Target)
def test_each_system_has_one_wheel_of_each_distribution(target: Target):
    names = [wheel.name for wheel in read_inputs().wheels_for(target)]
    assert len(names) == len(set(names))
    assert {"numpy", "onnxruntime", "pyside6-essentials"} <= set(names)


def test_no_input_is_a_distribution_that_trees_leave_out():
    assert not read_trim().left_out & {wheel.name for wheel in read_inputs().wheels}


def test_the_written_list_reads_back_as_it_was(tmp_path: Path):
    inputs = read_inputs()
    path = tmp_path / "inputs.toml"
    path.write_text(toml(inputs), encoding="utf-8")
    assert read_inputs(path) == inputs


def test_fetched_files_are_kept(tmp_path: Path):
    source = tmp_path / "source.whl"
    file = pinned(source, b"content")
    path = fetch(file, tmp_path / "cache")
    source.unlink()
    assert fetch(file, tmp_path / "cache") == path
    assert path.read_bytes() == b"content"


def test_a_download_with_other_bytes_is_refused_and_not_kept(tmp_path: Path):
    source = tmp_path / "source.whl"
    file = pinned(source, b"content")
    source.write_bytes(b"CONTENT")
    with pytest.raises(InputError, match="hash"):
        fetch(file, tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_shorter_file_is_refused_by_its_size(tmp_path: Path):
    source = tmp_path / "source.whl"
    file = pinned(source, b"content")
    source.write_bytes(b"cont")
    with pytest.raises(InputError, match="has 4 bytes"):
        check(source, file)
