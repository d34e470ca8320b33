"""Running an upscaler on a device: in tiles that fit its memory, in safer precisions if needed."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial

import msgspec
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
from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.windows import MOST_SIDE
from engine.memory.plan import WeightPlacement
from engine.upscalers.network import Emit, Needs, UpscalerNetwork
from engine.upscalers.reading import Upscaler, used_weights
from engine.upscalers.tile_plan import (
    Computing,
    TilePlan,
    most_bytes,
    overlap_of,
    padded_size,
    peak_bytes,
    plan_tiles,
    rounds_of,
    tail_overlap,
    tiles_of,
)
from engine.upscalers.tiles import Floats, tiles
from engine.weights.weight_set import WeightSet

# Receives the number of tiles that are done, and of all.
Progress = Callable[[int, int], None]

# bfloat16 has fewer levels than a picture.
_PRECISIONS = (Precision.F16, Precision.F32)


class Setting(msgspec.Struct, frozen=True):
    """The device that runs an upscaler, and who is told of its progress and may stop it.

    `tile` is the longest side of a tile in pixels; None for as much as memory allows.
    """

    compiler: Compiler
    cancel: Cancellation
    progress: Progress
    tile: int | None = None


class UpscalerRun:
    """An upscaler on a device. Its sessions are loaded by the first picture and kept for others."""

    def __init__(self, upscaler: Upscaler, setting: Setting) -> None:
        self.upscaler, self._setting = upscaler, setting
        self._plan = tiles_on(upscaler.network, setting.compiler, setting.tile)
        self.precisions = precisions_on(upscaler.network, setting.compiler)
        self._sessions: dict[str, Session] = {}

    def enlarge(self, planes: Floats) -> Floats:
        """Return planes [channels, height, width] in [0, 1], `scale` times as large.

        There may be any number of channels: they are run as those of the network, a single one as
        grey. Raises EngineError: CHECKPOINT_MISMATCH, BACKEND_FAILED, OUT_OF_MEMORY,
        NUMERIC_FAILURE; Cancelled.
        """
        channels = self.upscaler.network.channels
        rounds = rounds_of(self.upscaler.network, len(planes))
        if channels == 1:
            return np.concatenate(
                [self._enlarged(plane[None], done, rounds) for done, plane in enumerate(planes)]
            )
        if len(planes) == channels:
            return self._enlarged(planes, 0, rounds)
        grey = (np.repeat(plane[None], channels, axis=0) for plane in planes)
        return np.concatenate(
            [
                self._enlarged(channel, done, rounds).mean(0, keepdims=True)
                for done, channel in enumerate(grey)
            ]
        )

    @property
    def compiler(self) -> Compiler:
        """The compiler of the device."""
        return self._setting.compiler

    def tiles_of(self, shape: tuple[int, ...]) -> int:
        """Return the number of tiles in which planes of a shape are enlarged."""
        return tiles_of(self.upscaler.network, self._plan, shape)

    def load(self) -> None:
        """Load the network now rather than with the first picture. Raises EngineError."""
        for part in _PARTS if self.upscaler.network.tail is not None else _PARTS[:1]:
            self._loaded(part)

    def close(self) -> None:
        """Free the sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    @host_memory_errors()
    def _enlarged(self, planes: Floats, before: int, rounds: int) -> Floats:
        """Enlarge in tiles: smaller ones if memory runs out, more exact ones if numbers do.

        It is one of so many `rounds`, of which some went `before`.
        """
        needs, scale = self.upscaler.network.needs, self.upscaler.network.scale
        height, width = planes.shape[1:]
        padded = padded_to(planes, needs)
        while True:
            try:
                whole = self._in_tiles(padded, before, rounds)
            except EngineError as error:
                if not self._can_do_better(error):
                    raise
                self.close()
                continue
            return whole[:, : height * scale, : width * scale]

    def _can_do_better(self, error: EngineError) -> bool:
        """Choose smaller tiles or a safer precision after a failure; False if there is none."""
        if error.code is ErrorCode.OUT_OF_MEMORY:
            smaller = self._plan.smaller(self.upscaler.network)
            self._plan = smaller or self._plan
            return smaller is not None
        if error.code is ErrorCode.NUMERIC_FAILURE and len(self.precisions) > 1:
            self.precisions = self.precisions[1:]
            return True
        return False

    def _in_tiles(self, planes: Floats, before: int, rounds: int) -> Floats:
        network = self.upscaler.network
        channels, height, width = planes.shape
        scale, report = network.scale, self._setting.progress
        covering = tiles((height, width), self._plan.side, overlap_of(network.needs))
        whole = np.zeros((channels, height * scale, width * scale), np.float32)
        count = len(covering)
        for done, tile in enumerate(covering):
            report(before * count + done, rounds * count)
            tile.add(self._tile(tile.crop(planes)), whole, scale)
        report((before + 1) * count, rounds * count)
        return whole

    def _tile(self, planes: Floats) -> Floats:
        """Return a tile enlarged; the layers that enlarge are run in tiles of what comes before."""
        network = self.upscaler.network
        tail, found = network.tail, self._of(_WHOLE, planes)
        if tail is None:
            return found
        scale = network.scale * tail.shrinks
        covering = tiles(found.shape[1:], self._plan.tail, tail_overlap(tail.reach))
        if len(covering) == 1:
            return self._of(_TAIL, found)
        height, width = found.shape[1:]
        whole = np.zeros((network.channels, height * scale, width * scale), np.float32)
        for tile in covering:
            tile.add(self._of(_TAIL, tile.crop(found)), whole, scale)
        return whole

    def _of(self, part: str, planes: Floats) -> Floats:
        """Return the result of a part of the network. Raises EngineError and Cancelled."""
        session, setting = self._loaded(part), self._setting
        if setting.cancel.is_set():
            raise Cancelled
        device = setting.compiler.device
        with translated_errors(device), setting.cancel.calling(session.cancel):
            (result,) = session.run({"image": planes[None]}).values()
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

    def _loaded(self, part: str) -> Session:
        if part not in self._sessions:
            setting = self._setting
            self._sessions[part] = setting.compiler.load(
                self._network(part),
                self.precisions[0],
                WeightPlacement.MEMORY,
                _ignore,
                setting.cancel,
            )
        return self._sessions[part]

    def _network(self, part: str) -> Network:
        """Return a part of the network: the whole or what comes before a tail, or the tail."""
        upscaler, plan = self.upscaler, self._plan
        network, tail = upscaler.network, upscaler.network.tail
        emit, least, most = network.emit, network.needs.least, plan.side
        if tail is not None:
            emit = tail.emit if part == _TAIL else tail.body
        if part == _TAIL:
            least, most = 1, plan.tail
        sides = offered(least, most, most)
        return Network(
            f"upscaler {upscaler.architecture}{part}",
            partial(_of_one_size, emit),
            WeightSet(upscaler.digest, used_weights(network, emit)),
            {"height": sides, "width": sides},
            upscaler.name,
            network.overflows_f16,
        )


_WHOLE, _TAIL = _PARTS = ("", " tail")


def _of_one_size(emit: Emit, g: GraphBuilder) -> None:
    """Emit a network whose tiles all have one size."""
    g.one_size = True
    emit(g)


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
    sides = padded_size(needs, planes.shape[1:])
    added = [(0, side - now) for side, now in zip(sides, planes.shape[1:], strict=True)]
    if not any(after for _, after in added):
        return planes
    return np.pad(planes, [(0, 0), *added], "constant" if needs.zeros else "reflect")


def tiles_on(network: UpscalerNetwork, compiler: Compiler, longest: int | None) -> TilePlan:
    """Return the tiles for a network on a device, by the memory that is free now."""
    plan = plan_tiles(
        network,
        compiler.memory().free,
        longest,
        compiler.backend.working_memory(compiler.device),
    )
    return TilePlan(min(plan.side, MOST_SIDE), min(plan.tail, MOST_SIDE))


def peak_on(
    network: UpscalerNetwork, compiler: Compiler, plan: TilePlan, shape: Sequence[int]
) -> int:
    """Return the memory that enlarging planes of a shape takes at once on a device."""
    itemsize = precisions_on(network, compiler)[0].dtype.itemsize
    memory = compiler.backend.working_memory(compiler.device)
    return peak_bytes(network, plan, shape, Computing(itemsize, memory))


def upscaler_bytes(upscaler: Upscaler) -> int:
    """Return about the most bytes that an upscaler takes in the largest tiles that are tried."""
    return most_bytes(upscaler.network)


def precisions_on(network: UpscalerNetwork, compiler: Compiler) -> tuple[Precision, ...]:
    """Return the device's precisions that are fit for pictures, the first one to try first."""
    there = compiler.device.precisions
    fit = tuple(precision for precision in _PRECISIONS if precision in there) or there
    if network.overflows_f16:
        return tuple(precision for precision in fit if precision is not Precision.F16) or fit
    return fit


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress of converting weights: upscalers are small."""
