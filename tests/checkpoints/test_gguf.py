"""GGUF files: their tensors as one index, and hostile ones refused soon and in little memory."""

import io
import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import DType
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.checkpoints.gguf_header import MAGIC, MAX_HEADER_BYTES, MAX_LISTED_TEXTS
from engine.checkpoints.gguf_names import authors_names
from engine.checkpoints.header import MAX_METADATA_ENTRIES
from engine.errors import EngineError
from engine.weights.dequantization import dequantized
from engine.weights.sources import FileWeight
from tests import counted_work
from tests.checkpoints.gguf_files import (
    Stored,
    blocks,
    fact,
    header,
    numbers_fact,
    padded,
    plain,
    tensor,
    text,
    write_gguf,
    write_sparse_gguf,
)
from tests.families.flux import files as flux

Q8_0, F32, UNREAD = 8, 0, 23


def test_tensors_are_listed_with_shapes_types_and_places(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = write_gguf(
        tmp_path / "a.gguf",
        {"small": plain(numbers), "large": blocks(DType.Q4_K, (3, 512))},
        {"general.architecture": "flux", "general.quantization_version": 2},
    )
    index = read_index(path)
    assert {name: (stored.dtype, stored.shape) for name, stored in index.tensors.items()} == {
        "small": (DType.F32, (2, 3)),
        "large": (DType.Q4_K, (3, 512)),
    }
    assert index.metadata["general.architecture"] == "flux"
    assert (FileWeight(index.tensors["small"]).read() == numbers).all()
    assert index.tensors["large"].nbytes == 6 * 144
    assert index.state is not None


def test_a_shape_of_before_the_conversion_is_given_back(tmp_path: Path) -> None:
    numbers = np.arange(64, dtype=np.float32)
    path = write_gguf(
        tmp_path / "a.gguf",
        {"kernel": plain(numbers.reshape(2, 32))},
        lists=[numbers_fact("comfy.gguf.orig_shape.kernel", (2, 8, 2, 2))],
    )
    assert read_index(path).tensors["kernel"].shape == (2, 8, 2, 2)


def test_blocks_may_run_across_the_rows_of_such_a_shape(tmp_path: Path) -> None:
    """Rows of 320 and 640, as SD 1 and SDXL have them, are no whole blocks of 256."""
    stored = blocks(DType.Q4_K, (5, 256))
    path = write_gguf(
        tmp_path / "a.gguf",
        {"w": stored},
        lists=[numbers_fact("comfy.gguf.orig_shape.w", (4, 320))],
    )
    weight = FileWeight(read_index(path).tensors["w"])
    numbers = dequantized(np.frombuffer(stored.raw, np.uint8), DType.Q4_K)
    assert (weight.read() == numbers.reshape(4, 320)).all()


def test_two_files_with_other_numbers_have_other_digests(tmp_path: Path) -> None:
    digests = {
        read_index(
            write_gguf(tmp_path / f"{seed}.gguf", {"w": blocks(DType.Q8_0, (4, 32), seed)})
        ).digest
        for seed in (0, 1)
    }
    assert len(digests) == 2


def test_text_encoders_get_their_authors_names() -> None:
    names = ["enc.blk.3.attn_q.weight", "enc.output_norm.weight", "token_embd.weight"]
    assert list(authors_names("t5encoder", names).values()) == [
        "encoder.block.3.layer.0.SelfAttention.q.weight",
        "encoder.final_layer_norm.weight",
        "shared.weight",
    ]
    assert authors_names("qwen3", ["blk.0.ffn_up.weight"]) == {
        "blk.0.ffn_up.weight": "model.layers.0.mlp.up_proj.weight"
    }
    assert authors_names("flux", names) == dict(zip(names, names, strict=True))


class _Counted(io.FileIO):
    """A file that counts the bytes that are read of all such files."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size) or b""
        _Counted.taken += len(found)
        return found


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Counts what is read of files, which are opened without a buffer."""
    plainly = Path.open

    def opened(path: Path, mode: str = "r", **others: Any) -> object:
        return _Counted(path) if mode == "rb" else plainly(path, mode, **others)

    monkeypatch.setattr(Path, "open", opened)


def refused(path: Path, raw: bytes, size: int = 0) -> EngineError:
    """The refusal of a file with these bytes, and a hole behind them where it has more."""
    path.write_bytes(raw)
    if size:
        os.truncate(path, size)
    return refusal(path)


def refusal(path: Path) -> EngineError:
    """The refusal of a file, for which no more than a header is read or held."""
    _Counted.taken = 0
    tracemalloc.start()
    with pytest.raises(EngineError) as caught:
        read_index(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MAX_HEADER_BYTES
    assert 0 < _Counted.taken <= MAX_HEADER_BYTES + len(MAGIC)
    return caught.value


_SOUND = [tensor("w", (2, 32), Q8_0, 0)]
_HOSTILE: dict[str, tuple[bytes, str]] = {
    "tensors": (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "over the limit"),
    "facts": (b"GGUF" + struct.pack("<IQQ", 3, 1, 2**63), "over the limit"),
    "version": (header([], _SOUND, version=1), "version 1 of GGUF"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 1, 0), "big-endian"),
    "long text": (
        header([text("a") + struct.pack("<IQ", 8, 2**62)], _SOUND),
        "longer than any model's",
    ),
    "long list": (
        header([text("a") + struct.pack("<IIQ", 9, 10, 2**61)], _SOUND),
        "longer than any model's",
    ),
    "many texts": (
        header([text("a") + struct.pack("<IIQ", 9, 8, 2**40)], _SOUND),
        "more texts than any model",
    ),
    "list of lists": (
        header([text("a") + struct.pack("<IIQ", 9, 9, 1)], _SOUND),
        "cannot be listed",
    ),
    "kind of fact": (header([text("a") + struct.pack("<I", 77)], _SOUND), "unknown kind 77"),
    "fact twice": (header([fact("a", 1), fact("a", 1)], _SOUND), "'a' twice"),
    "tensor twice": (header([], _SOUND * 2), "'w' twice"),
    "two names": (
        padded(
            header(
                [fact("general.architecture", "t5")],
                [tensor("token_embd.weight", (8,), F32, 0), tensor("shared.weight", (8,), F32, 32)],
            )
        )
        + bytes(64),
        "under two names",
    ),
    "name": (header([], [tensor("a\nb", (2, 32), Q8_0, 0)]), "not plain text"),
    "rank": (header([], [tensor("w", (1,) * 9, F32, 0)]), "9 dimensions"),
    "no rank": (header([], [tensor("w", (), F32, 0)]), "0 dimensions"),
    "empty": (header([], [tensor("w", (0, 32), F32, 0)]), "has the shape"),
    "huge": (header([], [tensor("w", (2**62, 32), F32, 0)]), "has the shape"),
    "overlap": (
        header([], [*_SOUND, tensor("v", (2, 32), Q8_0, 32)]),
        "overlaps another",
    ),
    "gap": (header([], [*_SOUND, tensor("v", (2, 32), Q8_0, 4096)]), "does not begin where"),
    "odd offset": (header([], [tensor("w", (2, 32), Q8_0, 8)]), "does not begin where"),
    "blocks": (header([], [tensor("w", (2, 33), Q8_0, 0)]), "no whole blocks of Q8_0"),
    "cut blocks": (header([], [tensor("w", (48,), Q8_0, 0)]), "no whole blocks of Q8_0"),
    "alignment": (header([fact("general.alignment", 24)], _SOUND), "aligned to 24"),
    "alignment 0": (header([fact("general.alignment", 0)], _SOUND), "aligned to 0"),
    "shape": (
        header([numbers_fact("comfy.gguf.orig_shape.w", (2, 31))], _SOUND),
        "does not fit its shape",
    ),
    "more": (padded(header([], _SOUND)) + bytes(4096), "follow its last tensor"),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_damaged_file_is_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    raw, reason = _HOSTILE[name]
    error = refused(tmp_path / "hostile.gguf", raw)
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    assert reason in str(error.message)


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_damaged_file_of_20_gigabytes_is_refused_by_its_header(name: str, tmp_path: Path) -> None:
    """The hole is free; to read it would take minutes."""
    raw, reason = _HOSTILE[name]
    error = refused(tmp_path / "hostile.gguf", raw, 20 << 30)
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    assert reason in str(error.message) or "follow its last tensor" in str(error.message)


def test_a_header_that_lists_for_ever_ends_at_the_limit(tmp_path: Path) -> None:
    """Texts without end, and texts without letters, in the hole behind."""
    texts = header([text("a") + struct.pack("<IIQ", 9, 8, MAX_LISTED_TEXTS)] * 2, [])
    error = refused(tmp_path / "texts.gguf", texts, 20 << 30)
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    facts = b"GGUF" + struct.pack("<IQQ", 3, 1, MAX_METADATA_ENTRIES)
    assert refused(tmp_path / "facts.gguf", facts, 20 << 30).code is ErrorCode.CHECKPOINT_CORRUPT


def test_headers_are_read_in_linear_work(tmp_path: Path) -> None:
    def listing(count: int) -> Path:
        path = tmp_path / f"{count}.gguf"
        if not path.exists():
            shapes = {f"blocks.{number}.weight": (2, 32) for number in range(count)}
            facts: dict[str, str | int] = {f"fact {n}": n for n in range(count // 8)}
            write_sparse_gguf(path, shapes, facts, DType.Q8_0)
        return path

    for count in (1, 500, 2000):
        listing(count)
    counted_work.assert_linear(lambda count: read_index(listing(count)))


def test_a_vocabulary_is_passed_over(tmp_path: Path) -> None:
    words = b"".join(text("w" * (number % 40)) for number in range(60_000))
    lists = [text("words") + struct.pack("<IIQ", 9, 8, 60_000) + words]
    path = write_gguf(tmp_path / "a.gguf", {"w": blocks(DType.Q8_0, (4, 32))}, lists=lists)
    assert read_index(path).tensors["w"].shape == (4, 32)


def test_texts_that_end_beyond_the_file_are_refused(tmp_path: Path) -> None:
    lengths = [bytes(8)] * 10 + [struct.pack("<Q", 2**40)]
    many = text("a") + struct.pack("<IIQ", 9, 8, MAX_LISTED_TEXTS) + b"".join(lengths)
    error = refused(tmp_path / "many.gguf", header([many], _SOUND))
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT


@pytest.mark.parametrize("cut", [3, 8, 40, 60, 100])
def test_a_file_that_ends_early_is_incomplete(cut: int, tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "whole.gguf", {"w": blocks(DType.Q8_0, (64, 32))}).read_bytes()
    error = refused(tmp_path / "cut.gguf", whole[: len(whole) * cut // 101])
    codes = {ErrorCode.CHECKPOINT_TRUNCATED, ErrorCode.CHECKPOINT_NOT_SAFETENSORS}
    assert error.code in codes


@pytest.mark.parametrize("share", [0.001, 0.5, 0.999999])
def test_20_gigabytes_that_are_cut_are_told_by_the_header(share: float, tmp_path: Path) -> None:
    """Flux.1 dev in 16 bits, whose download ended early; nothing of its weights is read."""
    path = write_sparse_gguf(tmp_path / "flux.gguf", flux.original(), dtype=DType.BF16)
    whole = path.stat().st_size
    assert whole > 20e9
    first = min(stored.offset for stored in read_index(path).tensors.values())
    os.truncate(path, first + int((whole - first) * share))
    error = refusal(path)
    assert error.code is ErrorCode.CHECKPOINT_TRUNCATED
    assert "is incomplete" in str(error.message)
    # A first piece, which holds the header, and no more.
    assert _Counted.taken < 2 << 20


def test_a_file_of_20_gigabytes_is_read_by_header_and_samples(tmp_path: Path) -> None:
    path = write_sparse_gguf(tmp_path / "flux.gguf", flux.original(), dtype=DType.BF16)
    _Counted.taken = 0
    read_index(path)
    assert _Counted.taken < 2 << 20


def test_20_gigabytes_that_are_missing_are_told(tmp_path: Path) -> None:
    raw = padded(header([], [tensor("w", (10_000_000, 2048), Q8_0, 0)]))
    error = refused(tmp_path / "cut.gguf", raw)
    assert error.code is ErrorCode.CHECKPOINT_TRUNCATED
    assert "of 21.8 GB" in str(error.message) or "21.8 GB" in str(error.message)


def test_a_type_that_is_not_read_is_named(tmp_path: Path) -> None:
    error = refused(tmp_path / "iq.gguf", header([], [tensor("w", (2, 256), UNREAD, 0)]))
    assert error.code is ErrorCode.CHECKPOINT_UNREADABLE
    assert "IQ4_XS" in str(error.message)


def test_one_part_of_several_is_refused(tmp_path: Path) -> None:
    path = write_gguf(
        tmp_path / "flux-00001-of-00003.gguf",
        {"w": Stored(DType.Q8_0, (1, 32), bytes(34))},
        {"split.count": 3},
    )
    with pytest.raises(EngineError, match="one of 3 parts") as caught:
        read_index(path)
    assert "in one file" in str(caught.value.hint)


def test_a_safetensors_file_cannot_claim_blocks(tmp_path: Path) -> None:
    raw = b'{"w":{"dtype":"Q8_0","shape":[32],"data_offsets":[0,34]}}'
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + bytes(34))
    with pytest.raises(EngineError, match="Q8_0"):
        read_index(path)
