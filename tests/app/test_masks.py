"""Painted masks are kept under the name of their content."""

from pathlib import Path

from app.form.masks import keep_mask
from engine.api.values import ErrorCode, ErrorInfo


def test_the_same_mask_is_one_file(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "masks"
    mask, same, other = (keep_mask(folder, content) for content in (b"one", b"one", b"two"))
    assert mask == same != other
    assert isinstance(mask, Path)
    assert mask.read_bytes() == b"one"
    assert len(list(folder.iterdir())) == 2


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "masks").write_bytes(b"a file")
    answer = keep_mask(tmp_path / "masks", b"one")
    assert isinstance(answer, ErrorInfo)
    assert answer.code is ErrorCode.OUTPUT_NOT_WRITABLE
    assert "masks" in answer.message
