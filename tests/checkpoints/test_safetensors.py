"""The header reader: sound files are indexed, all others refused with a sentence."""

import json
import os
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.base import DType
from engine.api.values import ErrorCode
from engine.checkpoints import header as rules
from engine.checkpoints import safetensors
from engine.checkpoints.header import parse_header
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from tests.checkpoints.files import header, write_raw, write_sparse

NOWHERE = Path("x.safetensors")


def refusal(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        read_index(path)
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message
    assert caught.value.hint
    return caught.value


def entry(
    shape: list[Any], begin: int, end: int, dtype: str = "U8", **more: object
) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


def test_a_sound_file_is_read(tmp_path: Path) -> None:
    path = write_sparse(
        tmp_path / "a.safetensors",
        {"w": (2, 3), "scalar": (), "nothing": (0,)},
        DType.BF16,
        {"modelspec.title": "A title"},
    )
    index = read_index(path)
    data = 8 + len(
        header({"w": (2, 3), "scalar": (), "nothing": (0,)}, DType.BF16, index.metadata)[0]
    )
    places = {name: (found.offset - data, found.nbytes) for name, found in index.tensors.items()}
    assert places == {"w": (0, 12), "scalar": (12, 2), "nothing": (14, 0)}
    assert index.tensors["w"].shape == (2, 3)
    assert index.tensors["w"].dtype is DType.BF16
    assert index.tensors["w"].path == path
    assert index.metadata == {"modelspec.title": "A title"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html>" + b" " * 100, "web page"),
        (b"\n\n<html><head>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "Git LFS"),
        (b"\x80\x02}q\x00(X" + bytes(100), "pickle"),
        (b"SQLite format 3\x00" + bytes(100), "Draw Things"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(100), "packed archive (7z)"),
        (b"Rar!\x1a\x07\x01\x00" + bytes(100), "packed archive (RAR)"),
        (b"\x1f\x8b\x08\x00" + bytes(100), "packed archive (gzip)"),
        (b"\xfd7zXZ\x00" + bytes(100), "packed archive (xz)"),
        (b"GGUF\x03\x00\x00\x00" + bytes(100), "GGUF"),
        (b'{"error": "unauthorised"}', "JSON"),
        (bytes(4096), "not a safetensors file"),
        (b"short", "not a safetensors file"),
    ],
)
def test_files_of_other_kinds_are_named(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "download.safetensors"
    path.write_bytes(content)
    error = refusal(path)
    assert error.code is ErrorCode.CHECKPOINT_NOT_SAFETENSORS
    assert says in error.message


def test_the_error_for_a_truncated_file_states_its_size(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "big.safetensors", {"w": (3450, 1000, 1000)}, DType.F16)
    os.truncate(path, 3_100_000_000)
    error = refusal(path)
    assert error.code is ErrorCode.CHECKPOINT_TRUNCATED
    assert error.message == "big.safetensors is incomplete: the file is 3.1 of 6.9 GB."
    assert error.hint == "Download it again."


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        (1, r"is \d+ of \d+ bytes\."),
        (60_000_000, r"is 0\.9 of 1\.0 GB\."),
        (1_200_000, r"is 998\.8 of 1000\.0 MB\."),
    ],
)
def test_the_shown_sizes_differ(tmp_path: Path, cut: int, says: str) -> None:
    path = write_sparse(tmp_path / "w.safetensors", {"w": (10**9,)}, DType.U8)
    whole = path.stat().st_size
    os.truncate(path, whole - cut)
    assert re.search(says, refusal(path).message)


def test_a_file_that_ends_in_its_header_is_refused(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {f"w{n}": (1,) for n in range(100)})
    os.truncate(path, 1000)
    assert refusal(path).code is ErrorCode.CHECKPOINT_TRUNCATED


def test_bytes_after_the_last_tensor_are_refused(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {"w": (1,)})
    with path.open("ab") as file:
        file.write(b"tail")
    error = refusal(path)
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    assert "4 bytes follow" in error.message


def test_missing_files_folders_and_devices_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.safetensors").code is ErrorCode.CHECKPOINT_NOT_FOUND
    assert refusal(Path("nul\0byte")).code is ErrorCode.CHECKPOINT_NOT_FOUND
    assert refusal(tmp_path).code is ErrorCode.CHECKPOINT_NOT_SAFETENSORS
    assert refusal(tmp_path / ("x" * 300)).code is ErrorCode.CHECKPOINT_UNREADABLE


HEADERS: dict[str, tuple[object, str]] = {
    "overlap": ({"a": entry([8], 0, 8), "b": entry([8], 4, 12)}, "overlaps"),
    "same place": ({"a": entry([8], 0, 8), "b": entry([8], 0, 8)}, "overlaps"),
    "gap": ({"a": entry([4], 0, 4), "b": entry([4], 8, 12)}, "gap"),
    "late start": ({"a": entry([4], 4, 8)}, "gap"),
    "size": ({"a": entry([4], 0, 5)}, "does not fit its shape"),
    "backwards": ({"a": entry([4], 4, 0)}, "does not fit its shape"),
    "overflow": ({"a": entry([2**33, 2**33], 0, 4)}, "does not fit its shape"),
    "empty with bytes": ({"a": entry([0], 0, 4)}, "does not fit its shape"),
    "empty inside another": ({"a": entry([8], 0, 8), "b": entry([0], 4, 4)}, "overlaps"),
    "dimension": ({"a": entry([2**48], 0, 2**48)}, "entry of tensor 'a'"),
    "negative": ({"a": entry([-1, -4], 0, 4)}, "entry of tensor 'a'"),
    "boolean": ({"a": entry([True], 0, 1)}, "entry of tensor 'a'"),
    "float": ({"a": entry([4.0], 0, 4)}, "entry of tensor 'a'"),
    "rank": ({"a": entry([1] * 9, 0, 1)}, "entry of tensor 'a'"),
    "place": (
        {"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4, 8]}},
        "entry of tensor 'a'",
    ),
    "far": ({"a": entry([4], 2**70, 2**70 + 4)}, "entry of tensor 'a'"),
    "extra": ({"a": entry([4], 0, 4, zero=1)}, "entry of tensor 'a'"),
    "lacking": ({"a": {"dtype": "U8"}}, "entry of tensor 'a'"),
    "not an entry": ({"a": 3}, "entry of tensor 'a'"),
    "long name": ({"n" * 513: entry([4], 0, 4)}, "too long"),
    "control characters": ({"a\x1b[2J": entry([4], 0, 4)}, "not plain text"),
    "half a character": ({"\ud800": entry([4], 0, 4)}, "not valid JSON"),
    "metadata": ({"__metadata__": {"a": 1}, "a": entry([4], 0, 4)}, "metadata"),
    "metadata list": ({"__metadata__": [], "a": entry([4], 0, 4)}, "metadata"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_false_claims_of_a_header_are_refused(tmp_path: Path, case: str) -> None:
    content, says = HEADERS[case]
    error = refusal(write_raw(tmp_path / "a.safetensors", json.dumps(content).encode(), 12))
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    assert says in error.message


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}}',
        b'{"a":{"dtype":"U8","dtype":"I8","shape":[4],"data_offsets":[0,4]}}',
        b'{"__metadata__":{"k":"1","k":"2"},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}',
        b'{"__metadata__":{},"__metadata__":{},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}',
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":NaN}',
        b'{"__metadata__":{"k":"\\n\x01"},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}',
        b'{"__metadata__":{"k":"\\n","k":""},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}',
        b'{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"\\u0061":{}}',
        b'{"\xff\xfe":1}',
        b'{"a":1',
        b"{}}",
        b"{" + b"[]," * 600_000,
    ],
)
def test_json_that_readers_disagree_about_is_refused(tmp_path: Path, raw: bytes) -> None:
    error = refusal(write_raw(tmp_path / "a.safetensors", raw, 4))
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT


def test_files_beyond_the_limits_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {f"w{n}": (1,) for n in range(20)})
    monkeypatch.setattr(rules, "MAX_TENSORS", 10)
    assert "20 tensors" in refusal(path).message
    monkeypatch.setattr(safetensors, "MAX_HEADER_BYTES", 100)
    assert "header claims" in refusal(path).message


def test_a_hostile_header_cannot_fill_the_memory() -> None:
    raw = b"{" + b",".join(b'"%d":[]' % n for n in range(240_000)) + b"}"
    tracemalloc.start()
    try:
        with pytest.raises(EngineError):
            parse_header(raw, NOWHERE)
        assert tracemalloc.get_traced_memory()[1] < 150e6
    finally:
        tracemalloc.stop()


def test_an_unknown_number_format_is_named(tmp_path: Path) -> None:
    raw = json.dumps({"a": entry([4], 0, 2, dtype="F4")}).encode()
    error = refusal(write_raw(tmp_path / "a.safetensors", raw, 2))
    assert error.code is ErrorCode.CHECKPOINT_UNREADABLE
    assert "'F4'" in error.message


def test_metadata_is_cut_to_what_can_be_shown(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {"w": (1,)}, metadata={"k": "v" * 100_000})
    assert len(read_index(path).metadata["k"]) == rules.MAX_METADATA_CHARS


class TestDigest:
    def test_files_with_one_header_and_other_weights_differ(self, tmp_path: Path) -> None:
        first = write_sparse(tmp_path / "a.safetensors", {"w": (200, 1000, 1000)})
        second = write_sparse(tmp_path / "b.safetensors", {"w": (200, 1000, 1000)})
        assert read_index(first).digest == read_index(second).digest
        size = second.stat().st_size
        with second.open("r+b") as file:  # 1 % of the file, anywhere
            file.seek(size // 3)
            file.write(b"\x01" * (size // 100))
        assert read_index(first).digest != read_index(second).digest

    @pytest.mark.parametrize("place", [-1, 100_000])
    def test_every_byte_of_a_small_file_changes_the_digest(
        self, tmp_path: Path, place: int
    ) -> None:
        path = write_sparse(tmp_path / "a.safetensors", {"w": (200_000,)})
        before = read_index(path).digest
        with path.open("r+b") as file:
            file.seek(place, os.SEEK_END if place < 0 else os.SEEK_SET)
            file.write(b"\x01")
        assert read_index(path).digest != before

    def test_the_last_byte_of_a_large_file_changes_the_digest(self, tmp_path: Path) -> None:
        path = write_sparse(tmp_path / "a.safetensors", {"w": (200, 1000, 1000)})
        before = read_index(path).digest
        with path.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\x01")
        assert read_index(path).digest != before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4)
    ),
    max_leaves=20,
)
FIELDS = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([*DType, "F4", 7]),
        "shape": st.lists(st.integers(-1, 2**50), max_size=4) | JSON,
        "data_offsets": st.lists(st.integers(-1, 2**50), min_size=2, max_size=2) | JSON,
    }
)


@given(st.binary(max_size=400))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_bytes_are_refused_with_a_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    refusal(path)


@given(st.dictionaries(st.text(max_size=12), FIELDS | JSON, max_size=5))
@settings(max_examples=60)
def test_any_json_is_a_header_or_is_refused(content: dict[str, object]) -> None:
    raw = json.dumps(content).encode()
    try:
        found = parse_header(raw, NOWHERE)
    except EngineError:
        return
    end = 8 + len(raw)
    for tensor in sorted(found.tensors.values(), key=lambda tensor: (tensor.offset, tensor.nbytes)):
        assert tensor.offset == end
        end += tensor.nbytes
    assert end == found.end


@given(st.data())
@settings(max_examples=200)
def test_a_changed_byte_gives_a_header_or_is_refused(data: st.DataObject) -> None:
    raw = bytearray(header({"a.weight": (4, 4), "b.bias": (4,)}, DType.F32)[0])
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = data.draw(st.integers(0, 255))
    try:
        found = parse_header(bytes(raw), NOWHERE)
    except EngineError:
        return
    assert all(tensor.nbytes >= 0 for tensor in found.tensors.values())
