"""The reader that a single file gets, and the checks before any of them reads it."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.checkpoints.index import FileState
from engine.errors import EngineError
from tests.checkpoints.files import write_sparse
from tests.checkpoints.test_torch_file import FROZEN


def test_the_reader_is_chosen_by_a_files_first_bytes(tmp_path: Path) -> None:
    shutil.copy(FROZEN, tmp_path / "pickled.safetensors")
    write_sparse(tmp_path / "plain.ckpt", {"weight": (2, 3)})
    assert "model.ramp" in read_index(tmp_path / "pickled.safetensors").tensors
    assert "weight" in read_index(tmp_path / "plain.ckpt").tensors


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.safetensors")
    with pytest.raises(EngineError, match="is not a file") as caught:
        read_index(tmp_path / "pipe.safetensors")
    assert caught.value.code is ErrorCode.CHECKPOINT_NOT_SAFETENSORS


@pytest.mark.parametrize("kind", ["ckpt", "safetensors"])
def test_a_file_that_changes_while_it_is_read_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"growing.{kind}"
    if kind == "ckpt":
        shutil.copy(FROZEN, path)
    else:
        write_sparse(path, {"weight": (2, 3)})

    def grow(_: FileState) -> None:
        with path.open("ab") as file:
            file.write(b"more")

    with pytest.raises(EngineError, match="changed while it was read") as caught:
        read_index(path, grow)
    assert "still downloading" in caught.value.hint
