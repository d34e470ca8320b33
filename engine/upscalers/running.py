"""Running an upscaler on a device: in tiles that fit its memory, in safer precisions if needed."""

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from backends.base import Cancellation, Precision, Session
from engine import result_checks
from engine.api.sentences import as_it_is, sentence
from engine.api.values import ErrorCode
from engine.compile.backend_errors import translated_errors
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.errors import Cancelled, EngineError, host_memory_errors
from engine.graphs.upscalers.windows import MOST_SIDE
from engine.memory.plan import WeightPlacement
from engine.upscalers.network import Needs
from engine.upscalers.reading import Upscaler
from engine.upscalers.tiles import Floats, Overlap, Tile, tiles
from engine.weights.weight_set import WeightSet

# Receives the number of tiles that are done, and of all.
Progress = Callable[[int, int], None]

# The longest side of a tile in pixels, and the longest tried for networks that see all of it.
_LONGEST, _LONGEST_OF_ALL = 512, 1024
_SHARE_OF_FREE = 0.5
# Networks that see the whole picture differ more between tiles, so these give way slowly.
_BLEND, _BLEND_OF_ALL = 8, 32
# bfloat16 has fewer levels than a picture.
_PRECISIONS = (Precision.F16, Precision.F32)


@dataclass(frozen=True, slots=True)
class Setting:
    """The device that runs an upscaler, and who is told of its progress and may stop it.

    `tile` is the longest side of a tile in pixels; None for as much as memory allows.
    """

    compiler: Compiler
    cancel: Cancellation
    progress: Progress
    tile: int | None = None


class UpscalerRun:
    """An upscaler on a device. Its session is loaded by the first picture and kept for others."""

    def __init__(self, upscaler: Upscaler, setting: Setting) -> None:
        self.upscaler, self._setting = upscaler, setting
        self._tile = min(setting.tile or _tile_that_fits(upscaler, setting.compiler), MOST_SIDE)
        self._network = self._made(self._tile)
        self._precisions = self._network.precisions(_offered(setting.compiler))
        self._session: Session | None = None

    def enlarge(self, planes: Floats) -> Floats:
        """Return planes [channels, height, width] in [0, 1], `scale` times as large.

        There may be any number of channels: they are run as those of the network, a single one as
        grey. Raises EngineError: CHECKPOINT_MISMATCH, BACKEND_FAILED, OUT_OF_MEMORY,
        NUMERIC_FAILURE; Cancelled.
        """
        channels = self.upscaler.network.channels
        if channels == 1:
            return np.concatenate([self._enlarged(plane[None]) for plane in planes])
        if len(planes) == channels:
            return self._enlarged(planes)
        grey = (np.repeat(plane[None], channels, axis=0) for plane in planes)
        return np.concatenate([self._enlarged(one).mean(0, keepdims=True) for one in grey])

    def close(self) -> None:
        """Free the session."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _made(self, tile: int) -> Network:
        upscaler = self.upscaler
        sides = offered(upscaler.network.needs.least, tile, tile)
        return Network(
            f"upscaler {upscaler.architecture}",
            upscaler.network.emit,
            WeightSet(upscaler.digest, upscaler.network.weights),
            {"height": sides, "width": sides},
            upscaler.name,
            upscaler.network.overflows_f16,
        )

    @host_memory_errors()
    def _enlarged(self, planes: Floats) -> Floats:
        """Enlarge in tiles: smaller ones if memory runs out, more exact ones if numbers do."""
        needs, scale = self.upscaler.network.needs, self.upscaler.network.scale
        height, width = planes.shape[1:]
        padded = padded_to(planes, needs)
        while True:
            try:
                whole = self._in_tiles(padded, needs, scale)
            except EngineError as error:
                if not self._can_do_better(error, needs):
                    raise
                self.close()
                continue
            return whole[:, : height * scale, : width * scale]

    def _can_do_better(self, error: EngineError, needs: Needs) -> bool:
        """Choose smaller tiles or a safer precision after a failure; False if there is none."""
        if error.code is ErrorCode.OUT_OF_MEMORY and self._tile // 2 >= _overlap(needs).least:
            self._tile //= 2
            self._network = self._made(self._tile)
            return True
        if error.code is ErrorCode.NUMERIC_FAILURE and len(self._precisions) > 1:
            self._precisions = self._precisions[1:]
            return True
        return False

    def _in_tiles(self, planes: Floats, needs: Needs, scale: int) -> Floats:
        channels, height, width = planes.shape
        covering = tiles((height, width), self._tile, _overlap(needs))
        whole = np.zeros((channels, height * scale, width * scale), np.float32)
        session = self._loaded()
        for done, tile in enumerate(covering):
            self._setting.progress(done, len(covering))
            tile.add(self._of(session, tile, planes), whole, scale)
        self._setting.progress(len(covering), len(covering))
        return whole

    def _of(self, session: Session, tile: Tile, planes: Floats) -> Floats:
        """Return the result of a tile. Raises EngineError and Cancelled."""
        setting = self._setting
        if setting.cancel.is_set():
            raise Cancelled
        device = setting.compiler.device
        with translated_errors(device), setting.cancel.calling(session.cancel):
            (result,) = session.run({"image": tile.seen(planes)[None]}).values()
        reason = result_checks.numbers(result)
        if reason is not None:
            raise EngineError(
                ErrorCode.NUMERIC_FAILURE,
                sentence(
                    "The result of {path} is {reason}.",
                    path=self.upscaler.path.name,
                    reason=as_it_is(reason),
                ),
                sentence("The file is probably damaged: download it again."),
            )
        return result[0]

    def _loaded(self) -> Session:
        if self._session is None:
            setting = self._setting
            self._session = setting.compiler.load(
                self._network, self._precisions[0], WeightPlacement.MEMORY, _ignore, setting.cancel
            )
        return self._session


@contextmanager
def running(upscaler: Upscaler, setting: Setting) -> Generator[UpscalerRun]:
    """Provide an upscaler on a device within the block."""
    run = UpscalerRun(upscaler, setting)
    try:
        yield run
    finally:
        run.close()


def padded_to(planes: Floats, needs: Needs) -> Floats:
    """Return planes grown to the right and below to sides that a network takes.

    What is added mirrors the picture, again and again where that is small, or is black.
    """
    sides = [
        math.ceil(max(side, needs.least) / needs.multiple) * needs.multiple
        for side in planes.shape[1:]
    ]
    added = [(0, side - now) for side, now in zip(sides, planes.shape[1:], strict=True)]
    if not any(after for _, after in added):
        return planes
    return np.pad(planes, [(0, 0), *added], "constant" if needs.zeros else "reflect")


def _overlap(needs: Needs) -> Overlap:
    return Overlap(needs.reach, _BLEND_OF_ALL if needs.sees_all else _BLEND, needs.multiple)


def _tile_that_fits(upscaler: Upscaler, compiler: Compiler) -> int:
    """Return the longest side of a tile whose numbers fit in half of the free memory."""
    network = upscaler.network
    free = compiler.memory().free * _SHARE_OF_FREE
    side = math.isqrt(int(free / (network.numbers * np.dtype(np.float32).itemsize)))
    longest = _LONGEST_OF_ALL if network.needs.sees_all else _LONGEST
    return max(min(side, longest), _overlap(network.needs).least)


def upscaler_bytes(upscaler: Upscaler) -> int:
    """Return about the most bytes that an upscaler takes in the largest tiles that are tried."""
    network, itemsize = upscaler.network, np.dtype(np.float32).itemsize
    longest = _LONGEST_OF_ALL if network.needs.sees_all else _LONGEST
    weights = sum(one.elements for one in network.weights.values())
    return (weights + network.numbers * longest**2) * itemsize


def _offered(compiler: Compiler) -> tuple[Precision, ...]:
    """Return the device's precisions that are fit for pictures, the preferred one first."""
    there = compiler.device.precisions
    return tuple(one for one in _PRECISIONS if one in there) or there


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress of converting weights: upscalers are small."""
