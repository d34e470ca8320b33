"""A job in tiles tells how far it is between them, stops there, and is what is left of memory."""

from pathlib import Path

import msgspec
import pytest
from PIL import Image

from backends.base import (
    Artifact,
    BackendError,
    Cancellation,
    Device,
    Graph,
    OperatorSet,
    Precision,
    Progress,
    Session,
    Streaming,
)
from backends.cpu import CpuBackend
from engine.api.request import GenerateRequest, InputImage
from engine.api.values import ErrorCode, InputRole, Phase
from engine.cancel import CancelToken
from engine.errors import Cancelled, EngineError
from engine.memory.plan import TILE_CELLS
from tests.pipeline.jobs import RESIDENCY, Log, Result, a_request, psnr, run
from tests.tiny_checkpoint import DOWNSCALE

# The longer side of a picture of more than one tile, and of one with tiles by request.
SIDE = 192
LENGTH = 320
assert SIDE > TILE_CELLS * DOWNSCALE


class Tiles(Log):
    """Remembers the tiles of the decoder; cancels after `last` of them."""

    def __init__(self, token: CancelToken, last: int) -> None:
        super().__init__()
        self.tiles: list[tuple[int, int]] = []
        self._token, self._last = token, last

    def progress(self, done: int, total: int) -> None:
        super().progress(done, total)
        if self.phases[-1] is Phase.DECODE:
            self.tiles.append((done, total))
            if len(self.tiles) == self._last:
                self._token.cancel()


def test_progress_is_told_and_a_wish_to_stop_is_heard_between_tiles(tiny: Path) -> None:
    request = a_request(tiny, width=LENGTH, steps=1, vae_tile=256)
    log = Tiles(CancelToken(), last=-1)
    run(request, CpuBackend(), log=log)
    # Smaller ones to measure, then those that compute.
    assert log.tiles == [*((done, 3) for done in range(4)), *((done, 2) for done in range(3))]
    token = CancelToken()
    stopped = Tiles(token, last=2)
    with pytest.raises(Cancelled):
        run(request, CpuBackend(), log=stopped, cancel=token)
    assert stopped.tiles == log.tiles[:2]


class Small(CpuBackend):
    """Has the memory for some networks only."""

    def __init__(self, *too_large: str) -> None:
        super().__init__()
        self.too_large = too_large
        self.loads: list[str] = []
        # Of those, the ones whose weights are streamed.
        self.streamed: list[str] = []

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        self.loads.append(graph.name)
        if graph.room_bytes is not None:
            self.streamed.append(graph.name)
        if graph.name in self.too_large:
            raise BackendError("cannot allocate 3 GB", out_of_memory=True)
        return super().load(graph, artifact, device, progress, cancel)


class SmallCard(Small):
    """Has weights streamed where that is asked of it."""

    def operators(self, device: Device) -> OperatorSet:
        return msgspec.structs.replace(
            super().operators(device),
            reads_in_place=False,
            streaming=Streaming(tables_on_host=True),
        )


def a_large_request(tiny: Path, **changes: object) -> GenerateRequest:
    return a_request(tiny, width=SIDE, height=64, steps=2, **changes)


@pytest.fixture(scope="module")
def whole(tiny: Path) -> Result:
    """Two large pictures, decoded whole."""
    request = a_large_request(tiny, count=2)
    return run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY)


def test_a_latent_too_large_for_memory_is_decoded_in_tiles(tiny: Path, whole: Result) -> None:
    backend = Small("vae_decoder")
    made = run(a_large_request(tiny, count=2), backend, (Precision.F32,))
    for tiled, expected in zip(made.pixels, whole.pixels, strict=True):
        assert psnr(tiled, expected) > 40
    # Nothing is drawn again, and the second picture does not try again what failed.
    assert backend.loads.count("denoiser") == 2
    assert made.log.steps == whole.log.steps
    assert backend.loads.count("vae_decoder") == 2
    assert {picture.request.vae_tile for picture in made.pictures} == {TILE_CELLS * DOWNSCALE}
    (warning,) = made.warnings
    assert warning.code is ErrorCode.OUT_OF_MEMORY
    assert whole.warnings == []


@pytest.mark.oracle
def test_a_picture_that_does_not_fit_whole_is_encoded_in_tiles(
    tiny: Path, tmp_path: Path, whole: Result
) -> None:
    Image.fromarray(whole.pixels[0]).save(tmp_path / "init.png")
    inputs = (InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),)
    request = a_large_request(tiny, inputs=inputs, strength=0.5)
    backend = Small("vae_encoder")
    made = run(request, backend, (Precision.F32,)).pixels[0]
    whole_too = run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY).pixels[0]
    assert psnr(made, whole_too) > 40
    assert "vae_encoder_shell" in backend.loads


def test_tiles_come_before_weights_that_are_streamed(tiny: Path) -> None:
    large = SmallCard("vae_decoder")
    (warning,) = run(a_large_request(tiny), large, (Precision.F32,)).warnings
    assert "it was done in tiles" in warning.message
    assert large.streamed == []
    # A small picture has no tiles.
    small = SmallCard("vae_decoder")
    with pytest.raises(EngineError):
        run(a_request(tiny, steps=1), small, (Precision.F32,))
    assert small.streamed == ["vae_decoder"]


@pytest.mark.parametrize("side", [64, SIDE])
def test_where_tiles_do_not_fit_or_there_are_none_it_is_said(tiny: Path, side: int) -> None:
    backend = Small("vae_decoder", "vae_decoder_norms")
    request = a_request(tiny, width=side, steps=1)
    with pytest.raises(EngineError) as caught:
        run(request, backend, (Precision.F32,))
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert backend.loads.count("denoiser") == 1
