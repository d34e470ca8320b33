"""Embeddings are read from the files that tools save, and other files are told apart."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from backends.base import DType
from engine.api.values import ErrorCode
from engine.checkpoints.full_hash import hash_file
from engine.checkpoints.safetensors import read_index
from engine.embeddings.embedding import ANY, CLIP_G, CLIP_L, Embedding, Encoder
from engine.embeddings.file import bundled, read_embeddings
from engine.embeddings.pictures import name_in_picture
from engine.errors import EngineError
from tests.checkpoints.arrays import write_arrays

FROZEN = Path(__file__).parent / "frozen"
CHECKPOINTS = Path(__file__).parents[1] / "checkpoints" / "frozen"
VECTORS = np.arange(-24, 24, dtype=np.float32).reshape(2, 24) / 32


@pytest.mark.parametrize(
    ("file", "name", "token"),
    [
        ("a1111.pt", "a1111", "trained"),
        ("emb_params.safetensors", "emb_params", ""),
        ("one_tensor.safetensors", "one_tensor", ""),
        ("list.bin", "list", ""),
        ("text.png", "trained", "trained"),
        ("pixels.png", "trained", "trained"),
    ],
)
def test_the_vectors_of_a_file_are_read(file: str, name: str, token: str) -> None:
    (found,) = read_embeddings(FROZEN / file)
    assert (found.name, found.token, found.count) == (name, token, 2)
    np.testing.assert_array_equal(found.tensors[ANY], VECTORS)
    assert found.tensors[ANY].dtype == np.float32
    assert found.sha256 == hash_file(FROZEN / file, lambda _: None).whole
    assert found.path == FROZEN / file


@pytest.mark.parametrize("file", ["a1111.pt", "text.png", "pixels.png"])
def test_the_training_is_read(file: str) -> None:
    (found,) = read_embeddings(FROZEN / file)
    assert (found.steps, found.trained_on) == (1500, "a-model")


def test_a_concept_of_one_vector_has_its_word() -> None:
    (found,) = read_embeddings(FROZEN / "concept.bin")
    assert (found.name, found.token) == ("concept", "<cat-toy>")
    np.testing.assert_array_equal(found.tensors[ANY], VECTORS[:1])


def test_a_file_of_several_concepts_has_one_for_each_word() -> None:
    first, second = read_embeddings(FROZEN / "two_concepts.bin")
    assert (first.token, second.token) == ("<cat>", "<hat>")
    np.testing.assert_array_equal(second.tensors[ANY], VECTORS[1:])


def test_the_vectors_of_both_encoders_are_read() -> None:
    (found,) = read_embeddings(FROZEN / "sdxl.safetensors")
    np.testing.assert_array_equal(found.tensors[CLIP_L], VECTORS)
    np.testing.assert_array_equal(found.tensors[CLIP_G], np.concatenate([VECTORS, VECTORS], 1))
    assert found.widths == (24, 48)


def test_a_parameter_dictionary_of_older_versions_is_read() -> None:
    (found,) = read_embeddings(CHECKPOINTS / "a1111_embedding.pt")
    assert (found.count, found.widths, found.token, found.steps) == (2, (768,), "mine", 1)


def test_a_folder_names_what_scripts_call_alike(tmp_path: Path) -> None:
    (tmp_path / "my-cat").mkdir()
    path = tmp_path / "my-cat" / "learned_embeds.bin"
    path.write_bytes((FROZEN / "concept.bin").read_bytes())
    assert read_embeddings(path)[0].name == "my-cat"


def test_bundled_vectors_are_an_embedding(tmp_path: Path) -> None:
    path = tmp_path / "lora.safetensors"
    write_arrays(path, {"string_to_param.*": VECTORS})
    found = bundled("word", read_index(path).tensors)
    assert (found.name, found.count, found.path) == ("word", 2, path)
    both = {"clip_l": VECTORS, "clip_g": np.concatenate([VECTORS, VECTORS], 1)}
    write_arrays(path, both)
    assert bundled("word", read_index(path).tensors).widths == (24, 48)


def refused(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        read_embeddings(path)
    return caught.value


def test_a_lora_and_a_checkpoint_are_no_embeddings(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"lora_unet_x.lora_down.weight": VECTORS})
    assert "no textual inversion" in refused(path).message
    write_arrays(path, {f"layer.{i}": VECTORS for i in range(65)})
    assert "65 weights of networks" in refused(path).message
    assert refused(CHECKPOINTS / "hypernetwork.pt").code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY


def test_unsound_numbers_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    for number in (np.nan, np.inf):
        write_arrays(path, {"emb_params": np.full((1, 8), number, np.float32)})
        assert refused(path).code is ErrorCode.CHECKPOINT_CORRUPT
    write_arrays(path, {"clip_l": VECTORS, "clip_g": VECTORS[:1]})
    assert "different numbers of vectors" in refused(path).message


@pytest.mark.parametrize("shape", [(2, 3, 24), (0, 24), (2, 4), (5000, 24), ()])
def test_a_tensor_of_another_shape_is_no_embedding(shape: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"emb_params": np.zeros(shape, np.float32)})
    assert "has the shape" in refused(path).message


def test_integers_are_no_embedding(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"word": np.zeros((1, 24), np.int64)}, DType.I64)
    assert "holds no vectors" in refused(path).message


def test_missing_truncated_and_hostile_files_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.pt").code is ErrorCode.CHECKPOINT_NOT_FOUND
    whole = (FROZEN / "a1111.pt").read_bytes()
    for length in (0, 4, len(whole) // 2, len(whole) - 1):
        cut = tmp_path / "cut.pt"
        cut.write_bytes(whole[:length])
        assert refused(cut)
    hostile = tmp_path / "hostile.pt"
    hostile.write_bytes(whole.replace(b"collections", b"subprocess0"))
    assert refused(hostile)


def test_a_picture_without_an_embedding_is_told_apart(tmp_path: Path) -> None:
    assert "the picture holds none" in refused(FROZEN / "no_embedding.png").message
    assert name_in_picture(FROZEN / "no_embedding.png") is None
    plain = tmp_path / "black.png"
    Image.new("RGB", (8, 8)).save(plain)
    assert name_in_picture(plain) is None
    plain.write_bytes(b"no picture")
    assert name_in_picture(plain) is None


@pytest.mark.parametrize("text", ["?", "e30=", "W10=", "eyJzdHJpbmdfdG9fcGFyYW0iOnt9fQ=="])
def test_a_damaged_text_in_a_picture_is_damage(text: str, tmp_path: Path) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("sd-ti-embedding", text)
    path = tmp_path / "x.png"
    Image.new("RGB", (8, 8)).save(path, pnginfo=info)
    assert refused(path).code is ErrorCode.CHECKPOINT_CORRUPT
    assert name_in_picture(path) == "x"


def test_vectors_of_unequal_lengths_in_a_picture_are_damage(tmp_path: Path) -> None:
    info = PngImagePlugin.PngInfo()
    saved = {"string_to_param": {"*": {"TORCHTENSOR": [[1.0, 2.0], [3.0]]}}}
    info.add_text("sd-ti-embedding", base64.b64encode(json.dumps(saved).encode()).decode())
    path = tmp_path / "x.png"
    Image.new("RGB", (8, 8)).save(path, pnginfo=info)
    assert refused(path).code is ErrorCode.CHECKPOINT_CORRUPT


def test_a_cut_picture_gives_no_vectors(tmp_path: Path) -> None:
    whole = (FROZEN / "pixels.png").read_bytes()
    path = tmp_path / "cut.png"
    path.write_bytes(whole[: len(whole) // 2])
    assert refused(path).code is ErrorCode.CHECKPOINT_CORRUPT


def test_an_embedding_fits_encoders_by_key_and_width() -> None:
    l768, g1280 = Encoder(CLIP_L, 768), Encoder(CLIP_G, 1280)
    sd1 = Embedding("a", {ANY: np.zeros((1, 768), np.float32)})
    sdxl = Embedding(
        "b", {CLIP_L: np.zeros((1, 768), np.float32), CLIP_G: np.zeros((1, 1280), np.float32)}
    )
    assert (sd1.purpose, sdxl.purpose) == ("Stable Diffusion 1", "SDXL")
    assert sd1.is_exactly_for([l768])
    assert not sd1.is_exactly_for([l768, g1280])
    assert sdxl.is_exactly_for([l768, g1280])
    assert not sdxl.is_exactly_for([l768])
    assert sdxl.vectors_for(l768) is sdxl.tensors[CLIP_L]
    assert sd1.vectors_for(g1280) is None


def test_vectors_for_the_text_encoders_results_are_no_embedding(tmp_path: Path) -> None:
    """OneTrainer bundles its output embeddings beside those of words."""
    tensors = write_arrays(tmp_path / "x.safetensors", {"clip_l_out": np.zeros((1, 768))})
    with pytest.raises(EngineError, match="results, not to its words"):
        bundled("word", tensors)
