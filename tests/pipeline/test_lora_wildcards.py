"""Wildcards that name LoRAs: each picture of a batch gets its own."""

from pathlib import Path

import pytest

from engine.api.lora import LoraChoice
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.families import identify
from engine.lora.folder import LoraLookup
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.resolve import NamedFiles, resolve_job
from tests.pipeline.jobs import a_request
from tests.pipeline.lora_files import FileLora

COUNT = 12


def read(tiny: Path, folder: Path, prompt: str, words: Path | None = None) -> ReadJob:
    asked = {"prompt": prompt, "count": COUNT, "seed": 3, "expand_wildcards": True}
    request = a_request(tiny, convention=ConventionName.A1111, **asked)
    files = NamedFiles(words, LoraLookup((folder,)))
    return read_job(resolve_job(request, JobCheckpoints(identify(tiny)), files))


def test_a_name_in_the_list_that_files_share_is_told_with_both_paths(
    tiny: Path, folder: Path
) -> None:
    """The request of the job has paths instead of names."""
    other = FileLora(folder / "sub" / "ink.safetensors", tiny).path
    request = a_request(tiny, loras=(LoraChoice(file="ink"),))
    files = NamedFiles(None, LoraLookup((folder,)))
    job = read_job(resolve_job(request, JobCheckpoints(identify(tiny)), files))
    (warning,) = job.first.warnings
    assert f"{folder / 'ink.safetensors'} is used, not {other}." in warning.message


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    for name in ("ink", "line"):
        FileLora(tmp_path / "loras" / f"{name}.safetensors", tiny)
    return tmp_path / "loras"


def test_each_picture_has_the_loras_of_its_own_prompt(tiny: Path, folder: Path) -> None:
    job = read(tiny, folder, "a horse {<lora:ink:0.5>|<lora:line:1>|<lora:gone:1>|x}")
    places: list[int] = []
    seen: set[str] = set()
    for group in job.groups(range(COUNT)):
        for picture in group.pictures:
            places.append(picture.place)
            named = [report.name for report in group.loras.reports]
            assert all(f"<lora:{name}:" in picture.request.prompt for name in named)
            assert len(named) == picture.request.prompt.count("<lora:")
            assert bool(group.warnings) == ("gone" in named)
            seen.update(named)
    assert places == list(range(COUNT))
    assert seen == {"ink", "line", "gone"}


def test_pictures_with_the_same_loras_share_their_networks(tiny: Path, folder: Path) -> None:
    groups = list(read(tiny, folder, "a {red|blue} horse <lora:ink:0.5>").groups(range(COUNT)))
    assert [len(group.pictures) for group in groups] == [COUNT]


def test_a_circle_of_wildcards_that_name_loras_is_refused_before_the_first_step(
    tiny: Path, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "style.txt").write_text("<lora:ink:1> __other__")
    (tmp_path / "other.txt").write_text("<lora:line:1> __style__")
    with pytest.raises(EngineError) as caught:
        read(tiny, folder, "a horse __style__", tmp_path)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert "leads back to itself" in caught.value.message
