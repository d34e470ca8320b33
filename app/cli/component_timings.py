"""Times each network of a checkpoint on a device, as published benchmarks do."""

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter

import msgspec
import numpy as np

from backends.base import Array, Cancellation, Precision
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.compile.backend_errors import translated_errors
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.registry import FAMILIES
from engine.families.shared.clip.text_encoding import clip_text_of
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.unet import UNetConfig
from engine.memory.plan import WeightPlacement
from engine.text.chunks import CHUNK_LENGTH, first_end


class ComponentTiming(msgspec.Struct, frozen=True):
    """Seconds to prepare a network and to run it, the first time and the second."""

    component: str
    batch: int
    prepare_s: float
    first_s: float
    second_s: float


class _Case(msgspec.Struct, frozen=True):
    component: str
    network: Network
    # Returns the inputs for a batch of this many pictures.
    feeds: Callable[[int], Mapping[str, Array]]


def time_components(
    checkpoint: IdentifiedCheckpoint,
    compiler: Compiler,
    precision: Precision,
    *,
    width: int,
    height: int,
    batches: tuple[int, ...],
    cancel: Cancellation,
) -> Iterator[ComponentTiming]:
    """Yield the timing of text encoder, one guided denoiser step and VAE decoder per batch size.

    `width` and `height` in pixels. Inputs are seeded noise: no network's time depends on values.
    """
    for case in _cases(checkpoint, width, height):
        start = perf_counter()
        session = compiler.load(
            case.network, precision, WeightPlacement.MEMORY, lambda _done, _total: None, cancel
        )
        prepared = perf_counter() - start
        for batch in batches:
            feeds = case.feeds(batch)
            seconds: list[float] = []
            with translated_errors(compiler.device), cancel.calling(session.cancel):
                for _ in range(2):
                    start = perf_counter()
                    session.run(feeds)
                    seconds.append(perf_counter() - start)
            yield ComponentTiming(case.component, batch, prepared, seconds[0], seconds[1])
        session.close()


def _cases(checkpoint: IdentifiedCheckpoint, width: int, height: int) -> tuple[_Case, ...]:
    unet = checkpoint.components[Component.DENOISER].config
    if not isinstance(unet, UNetConfig):
        family = FAMILIES.named(checkpoint.family).title
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("The networks of {family} are not timed one by one.", family=family),
            sentence("Make a picture: its record has the seconds of each phase."),
        )
    form = checkpoint.latent
    latent = (height // form.downscale, width // form.downscale)
    noise = np.random.default_rng(0)

    def normal(*shape: int) -> Array:
        return noise.standard_normal(shape, np.float32)

    def step(batch: int) -> dict[str, Array]:
        # Both halves of guidance share the latents, so only the conditioning has a double batch.
        feeds = {
            "sample": normal(batch, unet.in_channels, *latent),
            **checkpoint.architecture.denoiser.timestep_inputs(500),
            "context": normal(2 * batch, CHUNK_LENGTH, unet.context_width),
        }
        return feeds | ({"added": normal(2 * batch, unet.added_width)} if unet.added_width else {})

    return (
        *(
            _text_case(checkpoint, component)
            for component in checkpoint.architecture.text.components
        ),
        _Case("denoiser step", checkpoint.architecture.denoiser.network(height, width), step),
        _Case(
            "VAE decoder",
            checkpoint.architecture.autoencoder.decoder(),
            lambda batch: {"latent": normal(batch, form.channels, *latent)},
        ),
    )


def _text_case(checkpoint: IdentifiedCheckpoint, component: Component) -> _Case:
    def feeds(batch: int) -> dict[str, Array]:
        # The prompt, the negative prompt and the empty one of each picture.
        tokens = np.zeros((3 * batch, CHUNK_LENGTH), np.int64)
        pools = isinstance(config, ClipTextConfig) and config.projection is not None
        return {"tokens": tokens} | ({"end": first_end(tokens, 0)} if pools else {})

    config = checkpoint.components[component].config
    skip = checkpoint.architecture.features.clip_skip
    label = str(FAMILIES.named(checkpoint.family).label(component))
    return _Case(label, clip_text_of(checkpoint).network(component, skip), feeds)
