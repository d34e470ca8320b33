"""Files cut at every boundary, archives that are none, and what would take long to look at."""

import os
import zipfile
from pathlib import Path

import pytest

from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.checkpoints.safetensors import LENGTH_BYTES
from engine.errors import EngineError
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.checkpoints.test_torch_file import FROZEN
from tests.families import listings


def refusal(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        read_index(path)
    assert caught.value.message.startswith(path.name)
    assert caught.value.hint
    return caught.value


def test_a_safetensors_file_cut_at_any_boundary_is_refused(tmp_path: Path) -> None:
    listing = listings.original(listings.SMALL_UNET, listings.SMALL_VAE, listings.SMALL_CLIP)
    path = write_sparse(tmp_path / "whole.safetensors", listing)
    index, size = read_index(path), path.stat().st_size
    tensors = index.tensors.values()
    data = min(tensor.offset for tensor in tensors)
    ends = {tensor.offset + tensor.nbytes for tensor in [*tensors][::4]}
    cuts = {0, 1, LENGTH_BYTES, LENGTH_BYTES + 1, data - 1, data, data + 1, size - 1, *ends} - {
        size
    }
    for cut in sorted(cuts, reverse=True):
        os.truncate(path, cut)
        code = refusal(path).code
        kind = (
            ErrorCode.CHECKPOINT_NOT_SAFETENSORS
            if cut <= LENGTH_BYTES
            else ErrorCode.CHECKPOINT_TRUNCATED
        )
        assert code is kind, cut


def test_a_torch_file_cut_at_any_member_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(FROZEN) as archive:
        starts = [member.header_offset for member in archive.infolist()[::3]]
        places = {*starts, archive.start_dir, FROZEN.stat().st_size - 1}
    for cut in sorted({cut + by for cut in places for by in (0, 1)} - {FROZEN.stat().st_size}):
        path = tmp_path / f"{cut}.ckpt"
        path.write_bytes(FROZEN.read_bytes()[:cut])
        refusal(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("name", ["bundle.zip", "bundle.safetensors", "bundle.ckpt"])
def test_a_packed_checkpoint_is_refused_with_the_advice_to_unpack(
    tmp_path: Path, name: str, compression: int
) -> None:
    write_arrays(tmp_path / "model.safetensors", {})
    with zipfile.ZipFile(tmp_path / name, "w", compression) as archive:
        archive.writestr("readme.txt", "Hello")
        archive.write(tmp_path / "model.safetensors", "some/model.safetensors")
    error = refusal(tmp_path / name)
    assert error.message == f"{name} is a zip archive that holds 'model.safetensors'."
    assert error.hint.startswith("Unpack it")


def bomb(path: Path, *, nested: bool) -> Path:
    """Many megabytes of zeros in few kilobytes: as the pickle, or as a storage."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("archive/version", "3")
        name = "archive/data/0" if nested else "archive/data.pkl"
        with archive.open(name, "w", force_zip64=True) as member:
            for _ in range(8):
                member.write(bytes(16 << 20))
    return path


def many(path: Path) -> Path:
    """An archive whose list of members is longer than that of any checkpoint."""
    name = "x" * 500
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(4_000):
            archive.writestr(f"archive/data/{name}{number}", b"")
    return path


def test_a_decompression_bomb_is_refused(tmp_path: Path) -> None:
    for nested in (False, True):
        path = bomb(tmp_path / f"{nested}.ckpt", nested=nested)
        assert "is compressed" in refusal(path).message
    assert "list of members is longer" in refusal(many(tmp_path / "many.ckpt")).message


def test_a_pickle_of_too_many_instructions_is_refused(tmp_path: Path) -> None:
    long = b"\x80\x02(" + b"K\x01" * 3_000_000 + b"t."
    path = tmp_path / "long.ckpt"
    with zipfile.ZipFile(FROZEN) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.infolist():
            is_pickle = member.filename.endswith("/data.pkl")
            new.writestr(member.filename, long if is_pickle else old.read(member))
    assert "more than 600000 instructions" in refusal(path).message
