"""PyTorch files made to take memory or time are refused, or listed, within bounds."""

import io
import struct
import sys
from pathlib import Path

import pytest

from engine.checkpoints.files import read_index
from engine.checkpoints.torch_pickle import read_pickle
from engine.errors import EngineError
from tests.checkpoints import hostile_torch
from tests.checkpoints.hostile_torch import FEW, MEMORY_BYTES, corpus, measure, text

posix = pytest.mark.skipif(sys.platform == "win32", reason="nothing tells what a child took there")


def check(name: str, folder: Path) -> None:
    path = folder / "hostile.ckpt"
    corpus()[name](path)
    taken = measure(path)
    assert taken.memory_bytes < MEMORY_BYTES
    assert taken.status == 0, "it did not end by itself"
    assert taken.answer.startswith(('{"refused"', '{"damaged"', '{"foreign"', '{"tensors"'))
    path.unlink()


@posix
@pytest.mark.parametrize("name", FEW)
def test_a_hostile_file_is_listed_or_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


@posix
@pytest.mark.slow
@pytest.mark.parametrize("name", corpus())
def test_every_hostile_file_is_listed_or_refused_in_little_memory(
    name: str, tmp_path: Path
) -> None:
    check(name, tmp_path)


def test_a_huge_argument_of_an_instruction_is_not_read() -> None:
    """60 MB of text and a number of as many digits cost a seek each."""
    opened = _Counting(
        hostile_torch.dictionary(text("a" * 60_000_000))[:-1].replace(b"s", b"")
        + b"0\x8b" + struct.pack("<I", 1_000_000) + bytes(1_000_000) + b"s."
    )  # fmt: skip
    assert read_pickle(opened)
    assert opened.bytes_read < 10_000


class _Counting(io.BytesIO):
    bytes_read = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.bytes_read += len(found)
        return found


# --- what people have is listed all the same ---


def tensors(count: int, name: str) -> bytes:
    """So many tensors, each of a storage of its own, as torch writes them."""
    template = hostile_torch.TENSOR.replace(b"X\x01\x00\x00\x000", b"%s")
    entries = (
        text(name.format(number)) + b"r" + struct.pack("<I", 2 * number)
        + template.replace(b"%s", text(str(number))) + b"r" + struct.pack("<I", 2 * number + 1)
        for number in range(count)
    )  # fmt: skip
    return b"}(" + b"".join(entries) + b"u"


HONEST_NAME = "model.diffusion_model.output_blocks.{}.1.transformer_blocks.0.attn2.to_out.0.weight"


def honest(others: bytes) -> bytes:
    """3,000 weights under `state_dict`, and something beside them."""
    weights = text("state_dict") + tensors(3000, HONEST_NAME)
    return b"\x80\x02}(" + weights + text("rest") + others + b"u."


def losses(count: int) -> bytes:
    """A dictionary of numbers."""
    return b"}(" + b"".join(text(f"step {n}") + b"G" + bytes(8) for n in range(count)) + b"u"


def moments(count: int) -> bytes:
    """An optimizer's state: a dictionary for each weight, by its number."""
    state = b"}" + text("exp_avg") + hostile_torch.TENSOR + b"s"
    return b"}(" + b"".join(b"M" + struct.pack("<H", n) + state for n in range(count)) + b"u"


BESIDE = {
    "a configuration of 5 MB": text("key: value\n" * 500_000),
    "an array of 20 MB": b"c_codecs\nencode\n"
    + text("\xff" * 10_000_000)
    + text("latin1")
    + b"\x86R",
    "100,000 losses": losses(100_000),
    "an optimizer's state": moments(3000),
    "a seed of 30 digits": b"\x8a\x0d" + b"\x7f" * 13,
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_checkpoint_with_leftovers_of_its_training_is_listed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "honest.ckpt"
    storages = [(f"archive/data/{number}", bytes(4)) for number in range(1, 3000)]
    hostile_torch.write_archive(path, honest(BESIDE[name]), *storages)
    found = read_index(path).tensors
    assert len(found) == 3000
    assert HONEST_NAME.format(2999) in found


def test_a_torch_file_may_have_as_many_tensors_as_a_safetensors_file(tmp_path: Path) -> None:
    path = tmp_path / "many.ckpt"
    hostile_torch.write_archive(path, b"\x80\x02" + hostile_torch.named(49_000, 60) + b".")
    assert len(read_index(path).tensors) == 49_000


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.ckpt"
    hostile_torch.write_archive(path, b"\x80\x02" + hostile_torch.under("a" * 600, 3) + b".")
    with pytest.raises(EngineError, match="name of more than 512 characters"):
        read_index(path)
