"""PyTorch files of before 2020 are listed, and what contradicts itself is refused."""

import pickle
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array
from engine.checkpoints.files import is_archive, read_index
from engine.checkpoints.torch_stream import MAGIC
from engine.errors import EngineError
from tests.guard.torch_zip import pickled_state

STATE = {
    "model.first": np.arange(12, dtype=np.float32).reshape(3, 4),
    "model.half": np.arange(5, dtype=np.float16),
}
FACTS = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2}}


def stream(
    state: Mapping[str, Array] = STATE,
    *,
    version: object = 1001,
    facts: object = FACTS,
    keys: object = None,
    more: int = 0,
) -> bytes:
    """The bytes of a file; `more` is added to the number of elements of each storage."""
    listed = [str(number) for number in range(len(state))] if keys is None else keys
    pickles = [pickle.dumps(value, protocol=2) for value in (version, facts)]
    pickles += [pickled_state(state), pickle.dumps(listed, protocol=2)]
    numbers = b"".join(
        struct.pack("<q", array.size + more) + array.tobytes() for array in state.values()
    )
    return MAGIC + b"".join(pickles) + numbers


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_the_tensors_are_where_they_are_said_to_be(tmp_path: Path) -> None:
    path = written(tmp_path / "old.pth", stream())
    found = read_index(path).tensors
    assert is_archive(path)
    for name, array in STATE.items():
        ref = found[name]
        raw = path.read_bytes()[ref.offset : ref.offset + ref.nbytes]
        np.testing.assert_array_equal(np.frombuffer(raw, ref.dtype.numpy).reshape(ref.shape), array)


def test_the_magic_number_is_pythons_pickle_of_it() -> None:
    assert pickle.loads(MAGIC) == 0x1950A86A20F9469CFC6C


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (stream(version=1000), "another version"),
        (stream(facts={"little_endian": False}), "little-endian"),
        (stream(facts=[]), "little-endian"),
        (stream(keys=["0"]), "numbers of 'model.half' are missing"),
        (stream(keys=["0", "1", "2"]), "that no tensor has"),
        (stream(keys=["0", "0"]), "or one twice"),
        (stream(keys={"0": 1}), "does not list its storages"),
        (stream(more=1 << 40), "incomplete"),
        (stream(more=-13), "incomplete|larger than its numbers"),
        (stream()[:-1], "incomplete"),
        (stream()[:60], "damaged"),
        (MAGIC, "damaged"),
        (MAGIC + b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", "os.system"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    tmp_path: Path, content: bytes, words: str
) -> None:
    with pytest.raises(EngineError, match=words):
        read_index(written(tmp_path / "old.pth", content))


@pytest.mark.parametrize("step", [61, pytest.param(7, marks=pytest.mark.slow)])
def test_no_beginning_of_a_file_is_taken_for_a_whole_one(tmp_path: Path, step: int) -> None:
    whole = stream()
    for length in range(0, len(whole), step):
        with pytest.raises(EngineError):
            read_index(written(tmp_path / "old.pth", whole[:length]))


def test_a_tensor_of_pytorch_before_0_4_is_read(tmp_path: Path) -> None:
    """`_rebuild_tensor` has the first four arguments of its successor."""
    parts = b"_rebuild_tensor_v2", b"_rebuild_tensor"
    old, known = stream().replace(*parts), stream()
    assert old.count(parts[1] + b"\n") == len(STATE)
    found = read_index(written(tmp_path / "old.pth", old)).tensors
    expected = read_index(written(tmp_path / "new.pth", known)).tensors
    assert {name: tensor.shape for name, tensor in found.items()} == {
        name: tensor.shape for name, tensor in expected.items()
    }


def test_a_pickle_that_is_not_pytorchs_is_called_so(tmp_path: Path) -> None:
    for protocol in (2, 3, 4, 5):
        content = pickle.dumps({"weights": [1.0] * 20}, protocol=protocol)
        with pytest.raises(EngineError, match="a pickle, but no checkpoint") as caught:
            read_index(written(tmp_path / "old.pth", content))
        assert "Safelight does not run them" in caught.value.info.hint
