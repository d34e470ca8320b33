"""Running the vision encoder and the adapter of image prompts: pictures to keys and values."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from engine import result_checks
from engine.api.values import Phase
from engine.compile.network import Network
from engine.families.running import EncoderRunner, NetworkRunner
from engine.graphs.ip_adapter import keys_output, values_output


class EncodedImagePrompt(msgspec.Struct, frozen=True, eq=False):
    """An image prompt's keys and values by the width of layers: float32 [layers, 2, tokens, width].

    The first of the two is made of the picture, the second of no picture.
    """

    keys: Mapping[int, Array]
    values: Mapping[int, Array]


class ShownPicture(msgspec.Struct, frozen=True, eq=False):
    """A picture as CLIP sees it, and what is shown without one: float32 [1, 3, side, side]."""

    encoder: Network
    pixels: NDArray[np.float32]
    nothing: NDArray[np.float32]
    # True if the adapter is shown CLIP's states, False for the picture's embedding.
    states: bool


def seen(shown: Sequence[ShownPicture], runner: EncoderRunner) -> list[Array]:
    """Run a vision encoder; return for each picture what it sees in it and without one, [2, ...].

    All pictures are for one encoder. Without a picture an adapter of embeddings is shown zeros, one
    of states those of `nothing`. Raises EngineError as `EncoderRunner.encode` does.
    """

    def seen_in(session: Session, picture: ShownPicture) -> Array:
        both = [picture.pixels, picture.nothing] if picture.states else [picture.pixels]
        found = next(iter(runner.call(session, {"pixels": np.concatenate(both)}).values()))
        return found if picture.states else np.concatenate([found, np.zeros_like(found)])

    def work(session: Session) -> list[Array]:
        return [seen_in(session, picture) for picture in shown]

    return runner.encode(shown[0].encoder, work, _broken)


def encode(
    network: Network, widths: Sequence[int], views: Sequence[Array], runner: NetworkRunner
) -> list[EncodedImagePrompt]:
    """Run an adapter on what CLIP saw in each picture.

    Raises EngineError as `NetworkRunner.run` does.
    """

    def work(session: Session) -> list[dict[str, Array]]:
        return [runner.call(session, {"seen": view}) for view in views]

    def problem(found: list[dict[str, Array]]) -> str | None:
        return _broken([array for prompt in found for array in prompt.values()])

    return [
        EncodedImagePrompt(
            {width: made[keys_output(width)] for width in widths},
            {width: made[values_output(width)] for width in widths},
        )
        for made in runner.run(Phase.ENCODE, network, work, problem)
    ]


def _broken(found: list[Array]) -> str | None:
    return next(filter(None, map(result_checks.numbers, found)), None)
