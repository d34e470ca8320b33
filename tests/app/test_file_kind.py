"""A LoRA is told from a checkpoint by its first bytes."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from app.library.file_kind import looks_like_lora
from tests.checkpoints.files import write_sparse
from tests.families import listings

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
    assert looks_like_lora(write_sparse(tmp_path / "a.safetensors", {key: (4, 4)}))


@pytest.mark.parametrize("names", [listings.sdxl, listings.ldm_unet, listings.ldm_vae])
def test_a_checkpoint_and_its_parts_are_none(
    tmp_path: Path, names: Callable[[], Mapping[str, tuple[int, ...]]]
) -> None:
    assert not looks_like_lora(write_sparse(tmp_path / "a.safetensors", names()))


@pytest.mark.parametrize(
    "content", [b"", b"\x08", b"\xff" * 100, b"<!DOCTYPE html>", b"\x02" + b"\0" * 7 + b"{}"]
)
def test_a_damaged_file_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    assert not looks_like_lora(path)


def test_a_folder_and_a_path_that_no_file_has_are_none(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("a\0b")):
        assert not looks_like_lora(path)


def test_a_file_that_was_replaced_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"")
    assert not looks_like_lora(path)
    assert looks_like_lora(write_sparse(path, {KEYS[0]: (4, 4)}))
