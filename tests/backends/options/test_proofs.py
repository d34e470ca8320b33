"""No option is given to a runtime that was not found in its published wheel or documentation."""

import json
import subprocess
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

from backends.onnx_runtime.provider import Provider
from tests.backends.options.emitted import (
    FOLDER,
    SPEAKERS,
    literals,
    silent,
    speakers,
    words_of,
)
from tests.backends.options.freeze import DOCUMENTED, PROOFS, SOURCES
from tests.backends.options.wheels import digest, download, found_in

CONTENT: dict[str, Any] = json.loads(PROOFS.read_text())
WHEELS: dict[str, dict[str, Any]] = CONTENT["wheels"]
# What a test may download; the others are for `freeze` alone.
SMALL = 60_000_000


def proven() -> dict[str, set[str]]:
    """By speaker the words found in every wheel that it is looked for in, or documented."""
    found: dict[str, list[set[str]]] = defaultdict(list)
    for wheel in WHEELS.values():
        for speaker, words in wheel["words"].items():
            found[speaker].append(set(words))
    documented = {name: set(words) for name, words in CONTENT["documented"].items()}
    everywhere = {name: sets[0].intersection(*sets) for name, sets in found.items()}
    return everywhere | documented


def test_every_backend_with_options_is_checked() -> None:
    assert not silent()


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_every_word_is_proven(speaker: str) -> None:
    said = speakers()
    if speaker not in said:
        pytest.skip("its backend is not registered")
    assert said[speaker]
    assert said[speaker] - proven()[speaker] == set()


def test_every_literal_that_looks_like_an_option_is_proven() -> None:
    seen = set(literals())
    assert "session.record_ep_graph_assignment_info" in seen
    assert not seen.difference(*proven().values())


def test_every_proven_word_is_used() -> None:
    for speaker, said in speakers().items():
        assert proven()[speaker] == said


def test_the_proofs_belong_to_the_named_wheels() -> None:
    kept = [(w["requirement"], tuple(w["platforms"])) for w in WHEELS.values()]
    assert kept == [(source.requirement, source.platforms) for source in SOURCES]
    assert CONTENT["documented"] == DOCUMENTED
    for words in DOCUMENTED.values():
        assert all(address.startswith("https://") for address in words.values())


def test_a_new_option_would_be_noticed() -> None:
    options = {"migraphx_hip_graph_enable": "1", "fast": "very", "device_id": "0"}
    provider = Provider("X", options, config={"session.made_up": "on", "ep.folder": str(FOLDER)})
    words = {"X", *options, "very", "session.made_up", "on", "ep.folder"}
    assert words_of(provider) == words
    assert "migraphx_hip_graph_enable" not in proven()["amd_migraphx"]


def installed_files(requirement: str) -> Path | None:
    """The folder that the pinned version of a distribution is installed in, or None."""
    name, _, version = requirement.partition("==")
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    return Path(str(found.locate_file(""))) if found.version == version else None


@pytest.mark.oracle
@pytest.mark.parametrize("file", WHEELS)
def test_the_words_are_in_the_wheel(file: str, tmp_path: Path) -> None:
    """In what is installed, for this system; else in what an index has."""
    wheel = WHEELS[file]
    words = {word: member for said in wheel["words"].values() for word, member in said.items()}
    folder = installed_files(wheel["requirement"])
    if folder is not None and all((folder / member).exists() for member in words.values()):
        for word, member in words.items():
            assert word.encode() in (folder / member).read_bytes(), (word, member)
        return
    if wheel["nbytes"] > SMALL:
        pytest.skip(f"{wheel['nbytes'] >> 20} MB are too much to download for a test")
    try:
        path = download(wheel["requirement"], wheel["platforms"], tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no index has it: {error.stderr[-200:]}")
    assert (path.name, digest(path)) == (file, wheel["sha256"])
    assert found_in(path, words) == words
