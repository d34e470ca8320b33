"""Embeddings are found by name in folders, and a file is read only when it is asked for."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from engine.checkpoints.files import read_index
from engine.checkpoints.full_hash import hash_file
from engine.checkpoints.index import TensorIndex
from engine.embeddings.embedding import Embedding
from engine.embeddings.folder import list_folders, usual_folders
from engine.embeddings.library import EmbeddingLibrary, Embeddings, WithBundled
from tests.checkpoints.arrays import write_arrays

FROZEN = Path(__file__).parent / "frozen"


def write(path: Path, count: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, {"emb_params": np.full((count, 8), count, np.float32)})
    return path


def copy(name: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((FROZEN / name).read_bytes())
    return path


def taken(found: object) -> Path | None:
    embedding = getattr(found, "embedding", None)
    return embedding.path if isinstance(embedding, Embedding) else None


def test_names_are_of_files_in_folders_and_subfolders(tmp_path: Path) -> None:
    write(tmp_path / "b.safetensors")
    write(tmp_path / "sub" / "a.safetensors")
    copy("a1111.pt", tmp_path / "c.pt")
    copy("text.png", tmp_path / "picture.png")
    copy("text.png", tmp_path / "b.png")
    copy("text.png", tmp_path / "c.preview.png")
    (tmp_path / "empty.pt").touch()
    (tmp_path / "notes.txt").write_text("x")
    copy("concept.bin", tmp_path / "my-cat" / "learned_embeds.bin")
    library = EmbeddingLibrary([tmp_path, tmp_path / "missing"])
    assert library.names() == ("b", "c", "trained", "my-cat", "a")


def test_an_embedding_is_found_by_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.safetensors", 3)
    found = EmbeddingLibrary([tmp_path]).named("mine")
    assert found is not None
    assert found.embedding is not None
    assert (found.embedding.path, found.embedding.count) == (path, 3)
    assert EmbeddingLibrary([tmp_path]).named("other") is None


@pytest.mark.parametrize(
    "name",
    ["sub/Mine", "sub\\Mine", "sub/Mine.safetensors", "Mine.safetensors", "Mine", "MINE", "/Mine/"],
)
def test_comfys_spellings_of_a_path_are_found(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "sub" / "Mine.safetensors")
    assert taken(EmbeddingLibrary([tmp_path]).at_path(name)) == path


@pytest.mark.parametrize("name", ["../secret", "", ".", "Min", "sub", "nothing"])
def test_no_other_path_is_opened(name: str, tmp_path: Path) -> None:
    write(tmp_path / "secret.safetensors")
    write(tmp_path / "embeddings" / "sub" / "Mine.safetensors")
    assert EmbeddingLibrary([tmp_path / "embeddings"]).at_path(name) is None


def test_case_decides_between_files_that_differ_in_it(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a" / "X.safetensors"), write(tmp_path / "b" / "x.safetensors")
    library = EmbeddingLibrary([tmp_path])
    assert taken(library.at_path("X")) == first
    assert taken(library.at_path("x")) == second


def test_safetensors_come_before_other_files_of_the_name(tmp_path: Path) -> None:
    other = copy("a1111.pt", tmp_path / "x.pt")
    first = write(tmp_path / "x.safetensors")
    found = EmbeddingLibrary([tmp_path]).named("x")
    assert found is not None
    assert found.embedding is not None
    assert (found.embedding.path, found.embedding.others) == (first, (other,))


def test_a_word_is_found_in_a_file(tmp_path: Path) -> None:
    copy("two_concepts.bin", tmp_path / "both.bin")
    path = copy("concept.bin", tmp_path / "toy.bin")
    named = write(tmp_path / "plain.safetensors")
    library = EmbeddingLibrary([tmp_path])
    assert taken(library.of_word("<cat-toy>")) == path
    hat = library.of_word("<hat>")
    assert hat is not None
    assert hat.embedding is not None
    assert hat.embedding.token == "<hat>"
    assert taken(library.of_word("<plain>")) == named
    assert library.of_word("<none>") is None


def test_new_and_deleted_files_are_noticed(tmp_path: Path) -> None:
    library = EmbeddingLibrary([tmp_path])
    assert library.names() == ()
    path = write(tmp_path / "x.safetensors")
    os.utime(tmp_path, ns=(1, 1))
    assert library.names() == ("x",)
    path.unlink()
    found = library.named("x")
    assert taken(found) is None
    assert found is None or found.error is not None


def test_a_file_that_comes_within_the_unit_of_a_folders_time_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On FAT that is 2 s: a second file leaves the folder the time that the first one gave it."""
    now_ns, now_s = time.time_ns(), time.monotonic()
    os.utime(tmp_path, ns=(now_ns, now_ns))
    library = EmbeddingLibrary([tmp_path])
    assert library.names() == ()
    write(tmp_path / "x.safetensors")
    os.utime(tmp_path, ns=(now_ns, now_ns))
    monkeypatch.setattr("engine.embeddings.folder.time.monotonic", lambda: now_s + 60)
    assert library.names() == ("x",)


def test_folders_that_were_left_alone_are_not_listed_again(tmp_path: Path) -> None:
    os.utime(tmp_path, ns=(1, 1))
    listing = list_folders([tmp_path, tmp_path / "missing"])
    assert listing.until is None
    assert listing.is_current
    assert listing.looked_through == (tmp_path,)
    (tmp_path / "missing").mkdir()
    assert not listing.is_current


def test_a_folder_that_keeps_its_time_is_listed_when_somebody_knows_better(tmp_path: Path) -> None:
    """On FAT and exFAT Windows leaves it as it is when a file is added."""
    os.utime(tmp_path, ns=(1, 1))
    library = EmbeddingLibrary([tmp_path, tmp_path / "missing"])
    assert library.names() == ()
    write(tmp_path / "x.safetensors")
    os.utime(tmp_path, ns=(1, 1))
    assert library.names() == ()
    assert library.look_again() == (tmp_path,)
    assert library.names() == ("x",)


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors")
    reads: list[Path] = []

    def read(path: Path) -> TensorIndex:
        reads.append(path)
        return read_index(path)

    library = EmbeddingLibrary([tmp_path], read)
    assert library.names() == ("x",)
    assert not reads
    library.named("x")
    library.named("x")
    assert reads == [path]
    write(path, 2)
    found = library.named("x")
    assert found is not None
    assert found.embedding is not None
    assert found.embedding.count == 2
    assert reads == [path, path]


def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"nothing")
    found = EmbeddingLibrary([tmp_path]).named("x")
    assert found is not None
    assert found.error is not None
    assert "x.safetensors" in found.error.message


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_folder_that_links_to_itself_is_listed_once(tmp_path: Path) -> None:
    write(tmp_path / "x.safetensors")
    (tmp_path / "again").symlink_to(tmp_path)
    assert [file.name for file in list_folders([tmp_path, tmp_path]).files] == ["x"]


def test_the_folders_of_tools_are_known(tmp_path: Path) -> None:
    models = tmp_path / "webui" / "models"
    found = usual_folders(models, [tmp_path / "mine"])
    assert found[0] == tmp_path / "mine"
    for folder in (
        models / "embeddings",  # ComfyUI, Easy Diffusion
        models / "Embeddings",  # SwarmUI
        models / "textual_inversion",
        tmp_path / "webui" / "embeddings",  # A1111
    ):
        assert folder in found
    beside = usual_folders(models / "Stable-diffusion")
    assert tmp_path / "webui" / "embeddings" in beside
    assert models / "embeddings" in beside
    assert usual_folders(None) == ()


def test_embeddings_of_tools_that_are_named_later_are_found_after_the_others(
    tmp_path: Path,
) -> None:
    first, tool, other = (tmp_path / name for name in ("mine", "webui", "comfy"))
    for path in (first / "x", tool / "embeddings" / "x", tool / "models" / "Lora" / "ink"):
        write(path.with_suffix(".safetensors"))
    write(other / "models" / "embeddings" / "y.safetensors")
    library = EmbeddingLibrary([first])
    assert library.names() == ("x",)
    library.look_into_tools([tool, tool / "models" / "Lora", tmp_path / "missing"])
    assert library.names() == ("x",)
    found = library.named("x")
    assert found is not None
    assert found.embedding is not None
    assert found.embedding.others == (tool / "embeddings" / "x.safetensors",)
    library.look_into_tools([other])
    assert library.names() == ("x", "y")


def test_bundled_embeddings_come_first(tmp_path: Path) -> None:
    write(tmp_path / "x.safetensors")
    mine = Embedding("x", {"": np.zeros((1, 8), np.float32)})
    known: Embeddings = WithBundled({"x": mine}, EmbeddingLibrary([tmp_path]))
    assert known.names() == ("x",)
    for found in (known.named("x"), known.at_path("x"), known.of_word("<x>")):
        assert found is not None
        assert found.embedding is mine


def test_a_file_is_found_by_its_hash(tmp_path: Path) -> None:
    write(tmp_path / "a.safetensors")
    path = copy("a1111.pt", tmp_path / "other-name.pt")
    tensors = write(tmp_path / "b.safetensors", 2)
    library = EmbeddingLibrary([tmp_path])
    whole = hash_file(path, lambda _: None).whole
    assert taken(library.of_hash(whole)) == path
    assert taken(library.of_hash(whole[:12].upper())) == path
    of_tensors = hash_file(tensors, lambda _: None, tensors=True).tensors
    assert of_tensors is not None
    assert taken(library.of_hash(of_tensors)) == tensors
    assert library.of_hash(whole[:7]) is None
    assert library.of_hash("0" * 12) is None
