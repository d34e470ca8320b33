"""`safelight generate --embeddings` as a user runs it, on the starter model."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from app.paths import starter_checkpoint
from engine.families.identify import identify
from tests.checkpoints.arrays import write_arrays
from tests.metadata.records import read_record

SMALL = ("--steps", "2", "--size", "64x64", "--seed", "7")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tool's folder with an embedding for the starter."""
    path = tmp_path / "webui" / "embeddings" / "mystyle.safetensors"
    path.parent.mkdir(parents=True)
    (text, *_) = identify(starter_checkpoint()).architecture.features.texts
    vectors = np.random.default_rng(0).standard_normal((2, text.width), np.float32)
    write_arrays(path, {"emb_params": vectors})
    return tmp_path / "webui"


def test_an_embedding_in_a_named_folder_is_used_and_recorded(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, named = tmp_path / "plain.png", tmp_path / "named.png"
    prompt = ("generate", "a mystyle house", *SMALL)
    assert run([*prompt, "--out", str(plain)]) == 0
    assert run([*prompt, "--out", str(named), "--embeddings", str(folder)]) == 0
    assert capsys.readouterr().err == ""
    with Image.open(plain) as first, Image.open(named) as second:
        assert first.tobytes() != second.tobytes()
        record, parameters = read_record(named), str(second.info["parameters"])
    assert record is not None
    (used,) = record.embeddings
    assert used.sha256 is not None
    assert f'TI hashes: "mystyle: {used.sha256[:12]}"' in parameters
    assert (used.name, used.vectors) == ("mystyle", 2)
    assert used.path == str(folder / "embeddings" / "mystyle.safetensors")
    # It is missing for the picture that is made again without the folder.
    again = tmp_path / "again.png"
    assert run(["generate", "--from", str(named), "--out", str(again)]) == 0
    message = capsys.readouterr().err
    assert 'The embedding "mystyle" was not found' in message
    assert used.sha256 in message


def test_a_picture_with_an_embedding_is_made_again_from_its_record(
    folder: Path, tmp_path: Path
) -> None:
    first, again = tmp_path / "first.png", tmp_path / "again.png"
    named = ("--embeddings", str(folder))
    assert run(["generate", "mystyle, red", *SMALL, "--out", str(first), *named]) == 0
    renamed = folder / "embeddings" / "other.safetensors"
    (folder / "embeddings" / "mystyle.safetensors").rename(renamed)
    assert run(["generate", "--from", str(first), "--out", str(again), *named]) == 0
    with Image.open(first) as first_image, Image.open(again) as again_image:
        assert first_image.tobytes() == again_image.tobytes()
