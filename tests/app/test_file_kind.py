"""Files are told apart by their names and first bytes."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from app.library.file_kind import FileKind, kind_of
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.tiny_checkpoint import write_checkpoint

KEYS = (
    "lora_unet_mid_block_attentions_0_proj_in.lora_down.weight",
    "unet.mid_block.attentions.0.proj_in.lora_A.weight",
    "unet.down_blocks.0.attn1.processor.to_q_lora.down.weight",
    "lora_unet_mid_block_attentions_0_proj_in.hada_w1_a",
    "lora_unet_mid_block_attentions_0_proj_in.lokr_w1",
    "lora_unet_mid_block_attentions_0_proj_in.diff",
    "lora_unet_mid_block_attentions_0_proj_in.oft_blocks",
)


@pytest.mark.parametrize("key", KEYS)
def test_a_file_with_the_keys_of_a_trainer_is_a_lora(tmp_path: Path, key: str) -> None:
    assert kind_of(write_sparse(tmp_path / "a.safetensors", {key: (4, 4)})) is FileKind.LORA


@pytest.mark.parametrize("key", ["emb_params", "clip_l", "string_to_param.*", "<cat-toy>"])
def test_a_file_with_the_key_of_an_embedding_is_one(tmp_path: Path, key: str) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {key: (4, 768)})
    assert kind_of(path) is FileKind.EMBEDDING


def test_a_lora_that_bundles_an_embedding_is_a_lora(tmp_path: Path) -> None:
    names = {KEYS[0]: (4, 4), "bundle_emb.cat.string_to_param.*": (2, 768)}
    assert kind_of(write_sparse(tmp_path / "a.safetensors", names)) is FileKind.LORA


@pytest.mark.parametrize("name", ["a.pt", "a.CKPT", "a.bin"])
def test_a_pytorch_file_is_left_to_the_engine(tmp_path: Path, name: str) -> None:
    assert kind_of(tmp_path / name) is FileKind.OPAQUE


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (listings.sdxl, FileKind.OTHER),
        (listings.ldm_unet, FileKind.UNTOLD),
        (listings.ldm_vae, FileKind.VAE),
    ],
)
def test_a_checkpoint_and_its_parts_are_told_apart(
    tmp_path: Path, names: Callable[[], Mapping[str, tuple[int, ...]]], kind: FileKind
) -> None:
    assert kind_of(write_sparse(tmp_path / "a.safetensors", names())) is kind


@pytest.mark.parametrize(
    "key",
    [
        "control_model.input_hint_block.0.weight",
        "controlnet_cond_embedding.conv_in.weight",
        "controlnet_x_embedder.weight",
        "lllite_unet_input_blocks_4_1.depth1.0.weight",
        "adapter.body.0.resnets.0.block1.weight",
    ],
)
def test_a_network_that_follows_pictures_is_a_controlnet(tmp_path: Path, key: str) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {key: (4, 4)})
    assert kind_of(path) is FileKind.CONTROLNET


@pytest.mark.parametrize(
    "content", [b"", b"\x08", b"\xff" * 100, b"<!DOCTYPE html>", b"\x02" + b"\0" * 7 + b"{}"]
)
def test_a_damaged_file_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    assert kind_of(path) is FileKind.OTHER


@pytest.mark.parametrize("name", ["note.txt", "clip.gif", "photo.avif", "README", "a.pdf"])
def test_a_file_that_is_for_something_else_is_foreign(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"GIF89a and what follows")
    assert kind_of(path) is FileKind.FOREIGN


@pytest.mark.parametrize("content", [b"GGUF\3\0\0\0", b"PK\3\4....", b"\x80\2}q"])
def test_weights_under_another_name_are_not_foreign(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mix.safetensors.1"
    path.write_bytes(content)
    assert kind_of(path) is FileKind.OTHER
    weights = write_sparse(tmp_path / "mix.part", listings.ldm_unet())
    assert kind_of(weights) is FileKind.UNTOLD


def test_a_path_that_no_file_has_is_none(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", Path("a\0b")):
        assert kind_of(path) is FileKind.OTHER


def test_a_folder_is_a_model_by_its_configuration_alone(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    assert kind_of(tmp_path / "pictures") is FileKind.FOLDER
    assert kind_of(write_checkpoint(tmp_path / "tiny")) is FileKind.OTHER
    (tmp_path / "part" / "unet").mkdir(parents=True)
    (tmp_path / "part" / "unet" / "config.json").write_text("{}")
    assert kind_of(tmp_path / "part") is FileKind.OTHER


def test_a_file_that_was_replaced_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"")
    assert kind_of(path) is FileKind.OTHER
    assert kind_of(write_sparse(path, {KEYS[0]: (4, 4)})) is FileKind.LORA
