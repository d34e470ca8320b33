"""The place of a baked file: what is refused, and that a failure leaves nothing behind."""

import errno
import os
import shutil
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from backends.base import Array, DType
from engine.api.lora import LoraChoice
from engine.api.values import ErrorCode
from engine.bake import writing
from engine.errors import EngineError
from tests.bake.bases import baked, choice, stored, write_base
from tests.checkpoints.arrays import write_arrays
from tests.pipeline.lora_files import FileLora
from tests.tiny_checkpoint import write_checkpoint

LAYER = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn1_to_q"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_base(tmp_path / "base.safetensors")


@pytest.fixture
def lora(tmp_path: Path) -> Path:
    return write_lora(tmp_path / "style.safetensors")


def write_lora(path: Path, change: float = 1.0, more: Mapping[str, Array] | None = None) -> Path:
    """A LoRA of one layer, all of whose changes are equal."""
    pair = {"up": np.full((64, 1), change, np.float32), "down": np.ones((1, 64), np.float32)}
    arrays = {f"{LAYER}.lora_{part}.weight": array for part, array in pair.items()}
    write_arrays(path, {**arrays, **(more or {})})
    return path


def refused(base: Path, loras: Sequence[LoraChoice], target: Path, *, replace: bool = False):
    """The error of a bake, which leaves every file as it was."""
    before = {path: path.stat().st_mtime_ns for path in target.parent.iterdir()}
    with pytest.raises(EngineError) as caught:
        baked(base, loras, target, replace=replace)
    after = {path: path.stat().st_mtime_ns for path in target.parent.iterdir()}
    after.pop(target.parent / "known", None)
    assert after == before
    return caught.value


def test_an_existing_file_is_replaced_only_where_that_is_asked_for(base: Path, lora: Path) -> None:
    target = base.with_name("new.safetensors")
    target.write_bytes(b"mine")
    assert refused(base, [choice(lora)], target).code is ErrorCode.OUTPUT_NOT_WRITABLE
    assert target.read_bytes() == b"mine"
    baked(base, [choice(lora)], target, replace=True)
    assert stored(target).keys() == stored(base).keys()


def test_a_file_that_appears_while_another_is_baked_is_kept(base: Path, lora: Path) -> None:
    target = base.with_name("new.safetensors")

    def report(_done: int, _total: int) -> None:
        if not target.exists():
            target.write_bytes(b"theirs")

    with pytest.raises(EngineError) as caught:
        baked(base, [choice(lora)], target, report=report)
    assert caught.value.code is ErrorCode.OUTPUT_NOT_WRITABLE
    assert target.read_bytes() == b"theirs"
    assert not list(target.parent.glob("*.part"))


@pytest.mark.parametrize("other", ["base.safetensors", "style.safetensors", "link.safetensors"])
def test_the_files_that_are_read_are_never_replaced(base: Path, lora: Path, other: str) -> None:
    base.with_name("link.safetensors").symlink_to(base)
    error = refused(base, [choice(lora)], base.with_name(other), replace=True)
    assert "made of" in error.message


def test_places_that_cannot_be_taken_are_refused(base: Path, lora: Path, tmp_path: Path) -> None:
    taken = tmp_path / "folder.safetensors"
    taken.mkdir()
    for target, words in (
        (tmp_path / "new.ckpt", "as .safetensors files"),
        (tmp_path / "new", "as .safetensors files"),
        (taken, "exists already"),
    ):
        assert words in refused(base, [choice(lora)], target, replace=True).message
    with pytest.raises(EngineError, match="there is no such folder"):
        baked(base, [choice(lora)], tmp_path / "missing" / "new.safetensors")
    folder = write_checkpoint(tmp_path / "diffusers")
    error = refused(folder, [choice(lora)], tmp_path / "new.safetensors")
    assert "is a folder, and so is what is baked from it" in error.message
    taken = tmp_path / "taken"
    taken.mkdir()
    assert "exists already" in refused(folder, [choice(lora)], taken, replace=True).message


def test_a_disk_without_room_is_told_before_anything_is_written(
    base: Path, lora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def usage(_path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=base.stat().st_size // 2)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    monkeypatch.setattr("engine.bake.bake.write_baked", None)
    error = refused(base, [choice(lora)], base.with_name("new.safetensors"))
    assert error.code is ErrorCode.DISK_FULL
    assert "MB are needed" in error.message


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, ErrorCode.DISK_FULL), (errno.EIO, ErrorCode.OUTPUT_NOT_WRITABLE)],
)
def test_a_disk_that_fails_meanwhile_leaves_nothing(
    base: Path, lora: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: ErrorCode
) -> None:
    def sync(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(writing, "sync_file", sync)
    error = refused(base, [choice(lora)], base.with_name("new.safetensors"))
    assert error.code is code


@pytest.mark.parametrize("at", [0.0, 0.6])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_interruption_leaves_nothing(tmp_path: Path, lora: Path, kind: str, at: float) -> None:
    (tmp_path / "out").mkdir()
    base = write_base(tmp_path / "base.safetensors")
    target = tmp_path / "out" / "new.safetensors"
    if kind == "folder":
        base, target = write_checkpoint(tmp_path / "one"), tmp_path / "out" / "new"
    calls = 0

    def report(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if done >= at * 0.99 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        baked(base, [choice(lora)], target, report=report)
    assert calls
    assert not [path for path in target.parent.iterdir() if path.name != "known"]


def test_progress_grows_to_the_whole(base: Path, lora: Path) -> None:
    told: list[tuple[int, int]] = []
    target = base.with_name("new.safetensors")
    baked(base, [choice(lora)], target, report=lambda done, total: told.append((done, total)))
    (total,) = {total for _, total in told}
    dones = [done for done, _ in told]
    assert dones == sorted(dones)
    assert 0.95 * total < dones[-1] <= total


def test_a_base_that_changes_meanwhile_is_told(base: Path, lora: Path) -> None:
    def report(_done: int, _total: int) -> None:
        os.utime(base, ns=(1, 1))

    with pytest.raises(EngineError) as caught:
        baked(base, [choice(lora)], base.with_name("new.safetensors"), report=report)
    assert "changed while it was read" in caught.value.message
    assert not base.with_name("new.safetensors").exists()


def test_a_lora_that_is_not_found_is_an_error(base: Path) -> None:
    error = refused(base, [LoraChoice(file="gone")], base.with_name("new.safetensors"))
    assert error.code is ErrorCode.LORA_NOT_FOUND
    assert "gone was not found" in error.message


def test_a_lora_for_another_family_is_refused(base: Path, tmp_path: Path) -> None:
    other = write_base(tmp_path / "xl.safetensors", "sdxl")
    path = tmp_path / "other.safetensors"
    names = (
        f"lora_unet_double_blocks_{place}_img_attn_qkv.lora_{part}.weight"
        for place in range(3)
        for part in ("up", "down")
    )
    write_arrays(path, {name: np.ones((4, 4), np.float32) for name in names})
    for checkpoint in (base, other):
        error = refused(checkpoint, [choice(path)], base.with_name("new.safetensors"))
        assert error.code is ErrorCode.LORA_MISMATCH


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (np.nan, "broken.safetensors holds values that are not a number"),
        (np.inf, "broken.safetensors holds values that are not a number"),
        (1e6, "attn1.to_q.weight of the denoiser has values that are no number, or too large"),
    ],
)
def test_numbers_that_the_file_cannot_hold_are_refused(
    base: Path, tmp_path: Path, change: float, words: str
) -> None:
    path = write_lora(tmp_path / "broken.safetensors", change)
    error = refused(base, [choice(path)], base.with_name("new.safetensors"))
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    assert words in error.message


def test_keys_and_embeddings_that_are_not_baked_are_told(base: Path, tmp_path: Path) -> None:
    path = write_lora(
        tmp_path / "more.safetensors",
        more={
            "lora_unet_nowhere.lora_up.weight": np.ones((8, 1), np.float32),
            "lora_unet_nowhere.lora_down.weight": np.ones((1, 8), np.float32),
            "bundle_emb.yy.string_to_param.*": np.ones((2, 64), np.float32),
        },
    )
    result = baked(base, [choice(path)], base.with_name("new.safetensors"))
    told = [warning.message for warning in result.warnings]
    assert any("2 of the 4 keys" in message for message in told)
    assert any("bundles embeddings" in message for message in told)
    assert result.changed_weights == 1


def test_never_more_than_a_weight_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = write_base(tmp_path / "base.safetensors", dtype=DType.F32)
    lora = FileLora(tmp_path / "all.safetensors", base)
    target = base.with_name("new.safetensors")
    monkeypatch.setattr(writing, "_PIECE_BYTES", 1 << 16)
    tracemalloc.start()
    try:
        baked(base, [choice(lora.path)], target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    changed = sum(change.nbytes for change in lora.changes.values())
    # Most of it are the pieces in which files are hashed.
    assert peak < 0.6 * changed
