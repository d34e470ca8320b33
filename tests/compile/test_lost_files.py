"""Files of weights that are lost between the reading of a checkpoint and its use, by name."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.base import DType, Precision
from backends.cpu import CpuBackend
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.errors import EngineError
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies
from tests.compile.compiling import network, write_weights


def _remove(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    """Shorten the file, as another download into it does when it begins."""
    path.write_bytes(path.read_bytes()[:1000])


lost = pytest.mark.parametrize(
    ("lose", "code"),
    [(_remove, ErrorCode.CHECKPOINT_NOT_FOUND), (_cut, ErrorCode.CHECKPOINT_UNREADABLE)],
)


@pytest.fixture(params=[DType.F32, DType.F16], ids=["as stored", "converted"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Network:
    return network(write_weights(tmp_path / "model.safetensors", dtype=request.param))


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    backend = CpuBackend()
    return Compiler(backend, backend.probe()[0], WorkingCopies(tmp_path / "copies"))


@lost
@pytest.mark.parametrize("placement", [WeightPlacement.MEMORY, WeightPlacement.WORKING_COPY])
def test_a_file_that_is_lost_before_its_network_is_loaded_is_named(
    lose: Callable[[Path], None],
    code: ErrorCode,
    placement: WeightPlacement,
    made: Network,
    compiler: Compiler,
    tmp_path: Path,
) -> None:
    lose(tmp_path / "model.safetensors")
    with pytest.raises(EngineError, match=r"model\.safetensors") as caught:
        compiler.load(made, Precision.F32, placement, lambda _done, _total: None, CancelToken())
    assert caught.value.code is code


def test_a_file_that_is_lost_while_it_is_converted_is_named_and_no_full_disk(
    compiler: Compiler, tmp_path: Path
) -> None:
    """Weights are converted some at a time."""
    made = network(write_weights(tmp_path / "model.safetensors", dtype=DType.F16))

    def lose(done: int, total: int) -> None:
        assert done < total
        (tmp_path / "model.safetensors").unlink()

    with pytest.raises(EngineError, match=r"model\.safetensors") as caught:
        compiler.load(made, Precision.F32, WeightPlacement.WORKING_COPY, lose, CancelToken())
    assert caught.value.code is ErrorCode.CHECKPOINT_NOT_FOUND


def test_a_session_of_a_file_that_is_gone_has_no_identity(
    made: Network, compiler: Compiler, tmp_path: Path
) -> None:
    prepared = compiler.prepared(made, Precision.F32)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(EngineError, match=r"model\.safetensors is not in"):
        prepared.identity()


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, ErrorCode.DISK_FULL), (errno.EROFS, ErrorCode.CACHE_NOT_WRITABLE)],
)
def test_a_disk_that_takes_nothing_keeps_its_name(
    compiler: Compiler,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    code: ErrorCode,
) -> None:
    made = network(write_weights(tmp_path / "model.safetensors", dtype=DType.F16))

    def refuse(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    placement = WeightPlacement.WORKING_COPY
    with pytest.raises(EngineError) as caught:
        compiler.load(made, Precision.F32, placement, lambda _done, _total: None, CancelToken())
    assert caught.value.code is code
