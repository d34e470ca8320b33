"""PyTorch files: what `torch.save` wrote is listed; what would run is refused, and does not run."""

import io
import pickle
import shutil
import struct
import subprocess
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from backends.base import Array, FileSlice
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.weights.sources import as_source
from tests.thinned import thinned

FROZEN = Path(__file__).parent / "frozen" / "torch.ckpt"
RAMP = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def numbers(ref: FileSlice) -> Array:
    raw = ref.path.read_bytes()[ref.offset : ref.offset + ref.nbytes]
    return np.frombuffer(raw, ref.dtype.numpy).reshape(ref.shape).astype(np.float32)


def test_a_file_written_by_torch_is_read_without_copying() -> None:
    tensors = read_index(FROZEN).tensors
    expected = {
        "model.ramp": RAMP,
        "model.half": RAMP,
        "model.tied": RAMP[0],
        "model.again": RAMP[0],
        "model.rows": RAMP.reshape(6, 4)[2:5],
        "model.parameter": RAMP[1],
        "model.float8": RAMP.astype(tensors["model.float8"].dtype.numpy).astype(np.float32),
        "model.steps": np.float32(7),
        "model.empty": np.zeros((0, 3), np.float32),
    }
    assert tensors.keys() == expected.keys()  # and nothing of the optimiser's
    for name, array in expected.items():
        assert np.array_equal(numbers(tensors[name]), array), name
    assert tensors["model.tied"].offset == tensors["model.again"].offset
    types = {name: tensors[name].dtype.value for name in tensors}
    assert types["model.half"] == "F16"
    assert types["model.parameter"] == "BF16"
    assert types["model.float8"] == "F8_E4M3"


def test_the_listing_process_gets_no_variable_but_the_one_that_windows_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CPython's own tests: "Windows requires at least the SYSTEMROOT ... variable to start"."""
    seen: list[object] = []
    run = cast("Callable[..., object]", subprocess.run)

    def spy(*given: Any, **options: Any) -> object:
        seen.append(options["env"])
        return run(*given, **options)

    monkeypatch.setattr(subprocess, "run", spy)
    monkeypatch.setenv("PYTHONVERBOSE", "1")
    monkeypatch.delenv("SYSTEMROOT", raising=False)
    assert read_index(FROZEN).tensors
    monkeypatch.setenv("SYSTEMROOT", r"C:\Windows")
    assert read_index(FROZEN).tensors
    assert seen == [{}, {"SYSTEMROOT": r"C:\Windows"}]


def test_the_digest_follows_the_weights(tmp_path: Path) -> None:
    copy = tmp_path / "copy.ckpt"
    shutil.copy(FROZEN, copy)
    index = read_index(copy)
    assert index.digest == read_index(FROZEN).digest
    raw = bytearray(copy.read_bytes())
    raw[index.tensors["model.ramp"].offset] ^= 1
    copy.write_bytes(raw)
    assert read_index(copy).digest != index.digest


# --- pickles that are programs ---


def archive(path: Path, pickled: bytes, **extra: bytes) -> Path:
    """The file that torch wrote, with another pickle."""
    with zipfile.ZipFile(FROZEN) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.infolist():
            wanted = member.filename.endswith("/data.pkl")
            new.writestr(member.filename, pickled if wanted else old.read(member))
        for name, content in extra.items():
            new.writestr(name, content)
    return path


class Calls:
    """Pickled, a call of `function` with `arguments` when it is opened."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.call


def text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def by_name(module: str, name: str, argument: bytes) -> bytes:
    """module.name(argument), as protocol 2 writes it."""
    return b"\x80\x02c" + f"{module}\n{name}\n".encode() + argument + b"\x85R."


CANARY = "open({!r}, 'w')"
# module and name of what runs the text it is given, or fetches and runs something.
RUNNERS = [
    ("os", "system"),
    ("posix", "system"),
    ("nt", "system"),
    ("subprocess", "Popen"),
    ("builtins", "eval"),
    ("builtins", "exec"),
    ("__builtin__", "eval"),
    ("builtins", "__import__"),
    ("builtins", "getattr"),
    ("runpy", "run_path"),
    ("pip", "main"),  # CVE-2025-1716: not on picklescan's list
    ("pip._internal.cli.main", "main"),
    ("numpy.testing._private.utils", "runstring"),
    ("numpy.f2py.crackfortran", "getlincoef"),
    ("timeit", "timeit"),
    ("cProfile", "run"),
    ("code", "InteractiveInterpreter"),
    ("idlelib.run", "Executive"),
    ("torch", "load"),
    ("torch.hub", "load"),
    ("torch.storage", "_load_from_bytes"),
    ("torch.serialization", "load"),
    ("torch.utils.collect_env", "run"),
    ("torch._dynamo.guards", "GuardBuilder.get"),
    ("torch.jit.unsupported_tensor_ops", "execWrapper"),
    ("operator", "attrgetter"),
    ("functools", "partial"),
    ("types", "FunctionType"),
    ("ctypes", "CDLL"),
    ("asyncio.unix_events", "_UnixSubprocessTransport._start"),
    ("torch", "FloatStorage.__init__.__globals__"),
    ("collections", "OrderedDict.__reduce__"),
    ("numpy", "ndarray.tofile"),
]


@pytest.mark.parametrize(("module", "name"), thinned(RUNNERS, RUNNERS[::4]))
def test_a_name_that_is_not_of_weights_is_refused(module: str, name: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    pickled = by_name(module, name, text(CANARY.format(str(canary))))
    with pytest.raises(EngineError, match=name.split(".")[0]) as caught:
        read_index(archive(tmp_path / "evil.ckpt", pickled))
    assert caught.value.code is ErrorCode.CHECKPOINT_UNREADABLE
    assert "safetensors" in (caught.value.hint or "")
    assert not canary.exists()


def program(canary: Path) -> bytes:
    return pickle.dumps(Calls(subprocess.call, ["touch", str(canary)]))


def test_the_same_pickle_runs_in_pythons_own_reader(tmp_path: Path) -> None:
    pickle.loads(program(tmp_path / "canary"))
    assert (tmp_path / "canary").exists()


def hidden(canary: Path) -> dict[str, bytes]:
    run = f"touch {canary}".encode()
    return {
        "protocol 4": program(canary),
        "protocol 0": pickle.dumps(Calls(subprocess.call, ["touch", str(canary)]), 0),
        "broken after the call": program(canary)[:-1] + b"\xff\xff",
        "cut off after the call": program(canary)[:-1],
        "two pickles": pickle.dumps({}) + program(canary),
        "INST": b"(S'" + run + b"'\nios\nsystem\n.",
        "OBJ": b"(cos\nsystem\nS'" + run + b"'\no.",
        "NEWOBJ": b"\x80\x02cos\nsystem\n" + text(run.decode()) + b"\x85\x81.",
        "extension registry": b"\x80\x02\x82\x01" + text(run.decode()) + b"\x85R.",
        "persistent id": b"Pos.system\n.",
        "names from the memo": b"\x80\x04" + text("os") + b"\x94" + text("system")
        + b"\x940h\x00h\x01\x93" + text(run.decode()) + b"\x85R.",
        "a state that is set": b"\x80\x02ccollections\nOrderedDict\n)R}" + text("__class__")
        + b"cos\nsystem\nsb.",
        "within a tensor's hooks": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(cos\nsystem\n"
        + text(run.decode()) + b"\x85RK\x00K\x01\x85K\x01\x85tR.",
        "a storage of another class": b"\x80\x02(" + text("storage") + b"cos\nsystem\n" + text("0")
        + text("cpu") + b"K\x01tQ.",
    }  # fmt: skip


@pytest.mark.parametrize("name", hidden(Path()))
def test_hidden_code_does_not_run(name: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    path = archive(tmp_path / "evil.ckpt", hidden(canary)[name])
    if name == "two pickles":  # the second is not looked at
        assert not read_index(path).tensors
    else:
        with pytest.raises(EngineError):
            read_index(path)
    assert not canary.exists()


def bombs() -> dict[str, bytes]:
    nested = b"\x80\x02" + b"(" * 200_000 + b"t" * 200_000 + b"."
    doubling = b"\x80\x02)" + b"2\x86" * 100_000 + b"0."
    key = b"\x80\x02}" + b")" + b"\x85" * 500_000 + b"Ns."
    return {
        "deep nesting": nested,
        "each twice the one before": doubling,
        "a key nested deeply": key,
        "a text longer than the file": b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b"a.",
        "a number of many digits": b"L" + b"9" * 1_000_000 + b"L\n.",
        "a long list read again and again": b"\x80\x02](" + b"NN\x86" * 50_000 + b"eq\x000"
        + b"ccollections\nOrderedDict\nh\x00\x85R" * 50_000 + b".",
    }  # fmt: skip


@pytest.mark.parametrize("name", bombs())
def test_time_and_memory_are_bounded(name: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        read_index(archive(tmp_path / "bomb.ckpt", bombs()[name]))


# --- tensors that are not there ---


def tensor(storage: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
    """A dictionary of one tensor, described as torch does."""
    out = io.BytesIO()
    numbers_of = b"".join(b"J" + struct.pack("<i", n) for n in shape)
    steps = b"".join(b"J" + struct.pack("<i", n) for n in strides)
    out.write(b"\x80\x02}" + text("a") + b"ctorch._utils\n_rebuild_tensor_v2\n((")
    out.write(text("storage") + b"ctorch\nFloatStorage\n" + text(storage) + text("cpu"))
    out.write(b"J" + struct.pack("<i", 24) + b"tQJ" + struct.pack("<i", offset))
    out.write(b"(" + numbers_of + b"t(" + steps + b"t\x89}tRs.")
    return out.getvalue()


def test_a_tensor_at_an_offset_is_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "one.ckpt", tensor("0", 4, (2, 2), (2, 1)))
    assert np.array_equal(numbers(read_index(path).tensors["a"]), [[4, 5], [6, 7]])


def test_a_kernel_with_its_channels_last_has_its_own_shape(tmp_path: Path) -> None:
    """torch's `channels_last`, in which some trainers keep networks, and save them so."""
    claim = tensor("0", 0, (2, 3, 2, 2), (12, 1, 6, 3))
    found = read_index(archive(tmp_path / "one.ckpt", claim))
    numbers = as_source(found.tensors["a"]).read()
    wanted = RAMP.reshape(2, 2, 2, 3).transpose(0, 3, 1, 2)
    assert np.array_equal(numbers, wanted)
    rows = archive(tmp_path / "rows.ckpt", tensor("0", 0, (2, 3, 2, 2), (12, 4, 2, 1)))
    assert read_index(rows).digest != found.digest


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (("0", 0, (1000, 1000), (1000, 1)), "larger than its numbers"),
        (("0", 23, (2,), (1,)), "larger than its numbers"),
        (("0", -4, (2,), (1,)), "not described"),
        (("0", 0, (-2, -2), (-2, 1)), "not described"),
        (("99", 0, (2,), (1,)), "missing"),
        (("../../etc/passwd", 0, (2,), (1,)), "missing"),
        (("0", 0, (2, 3), (1, 2)), "another order"),
        (("0", 0, (2, 3, 2, 2), (12, 1, 3, 6)), "another order"),
        (("0", 0, (2, 3, 2, 2), (24, 1, 12, 3)), "another order"),
        (("0", 1, (2, 3, 2, 2), (12, 1, 6, 3)), "larger than its numbers"),
        (("0", 0, (2, 3), (0, 0)), "another order"),
        (("0", 0, (2, 3), (3,)), "strides"),
        (("0", 0, (1,) * 9, (1,) * 9), "sizes"),
        (("0", 0, (2**15, 2**15, 2**15), (2**30, 2**15, 1)), "larger than its numbers"),
    ],
)
def test_a_tensor_lies_within_its_storage(
    claim: tuple[str, int, tuple[int, ...], tuple[int, ...]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(EngineError, match=said):
        read_index(archive(tmp_path / "odd.ckpt", tensor(*claim)))


# --- archives that contradict themselves ---


def deflated(raw: bytes) -> bytes:
    out = io.BytesIO()
    old = zipfile.ZipFile(io.BytesIO(raw))
    with old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            new.writestr(member.filename, old.read(member))
    return out.getvalue()


def with_members(raw: bytes, *added: tuple[str, bytes]) -> bytes:
    out = io.BytesIO(raw)
    with warnings.catch_warnings(), zipfile.ZipFile(out, "a") as grown:
        warnings.simplefilter("ignore")  # of a name that is there already
        for name, content in added:
            grown.writestr(name, content)
    return out.getvalue()


def renamed_in_list(raw: bytes) -> bytes:
    """The list of members calls the pickle what its own header does not."""
    end = raw.rindex(b"/data.pkl")
    return raw[:end] + b"/version " + raw[end + 9 :]


def without(raw: bytes, ending: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.infolist():
            if not member.filename.endswith(ending):
                new.writestr(member.filename, old.read(member))
    return out.getvalue()


def damaged_pickle(raw: bytes) -> bytes:
    place = raw.index(b"state_dict")
    return raw[:place] + b"stale_dict" + raw[place + 10 :]


ODD_ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    "compressed": deflated,
    "a name twice": lambda raw: with_members(raw, ("torch/data.pkl", b"x")),
    "a second checkpoint": lambda raw: with_members(raw, ("other/data.pkl", b"x")),
    "a member that is none of torch's": lambda raw: with_members(raw, ("torch/evil.py", b"x")),
    "a path that leads out": lambda raw: with_members(raw, ("../torch/data/7", b"x")),
    "a TorchScript module": lambda raw: with_members(raw, ("torch/code/__torch__.py", b"x")),
    "another name in the list": renamed_in_list,
    "encrypted": lambda raw: raw.replace(b"\x03\x04\x00\x00\x08\x08", b"\x03\x04\x00\x00\x09\x08"),
    "no pickle": lambda raw: without(raw, "data.pkl"),
    "half": lambda raw: raw[: len(raw) // 2],
    "a wrong checksum": damaged_pickle,
    "something before it": lambda raw: b"MZ" * 500 + raw,
    "big-endian": lambda raw: raw.replace(b"little", b"bigbig"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_ARCHIVES)
def test_an_archive_that_torch_would_not_write_is_refused(name: str, tmp_path: Path) -> None:
    raw = FROZEN.read_bytes()
    changed = ODD_ARCHIVES[name](raw)
    assert changed != raw
    path = tmp_path / "odd.ckpt"
    path.write_bytes(changed)
    with pytest.raises(EngineError) as caught:
        read_index(path)
    assert path.name in caught.value.message


def test_a_long_list_of_members_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.ckpt"
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(3 << 30)
        file.seek(0, 2)
        file.write(b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 9, 9, 3 << 30, 0, 0))
    with pytest.raises(EngineError, match="longer than any"):
        read_index(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04", b"\x80\x02}q\x00.", b"<html>"])
def test_a_file_that_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "none.ckpt"
    path.write_bytes(content)
    with pytest.raises(EngineError):
        read_index(path)


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(EngineError) as caught:
        read_index(Path("nowhere.ckpt"))
    assert caught.value.code is ErrorCode.CHECKPOINT_NOT_FOUND
