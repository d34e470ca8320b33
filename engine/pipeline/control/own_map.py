"""The map that a denoiser itself follows, beside its latent: what a job reads, and a pass's part.

Flux.1 Canny and Depth are such denoisers: they need no control network.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from backends.base import Cancellation
from engine.api.control import ControlLayer, ControlMode, ControlReport
from engine.api.preprocessors import ControlKind
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.families.checkpoint import IdentifiedCheckpoint, name_of
from engine.families.latents import EncodedImage
from engine.pipeline.canvas.growth import Place
from engine.pipeline.canvas.pictures import as_samples
from engine.pipeline.control.fitting import fitted_map, placed_map
from engine.pipeline.control.maps import FittedMap, wanted_map
from engine.pipeline.denoise.denoising import EncodedCanvas
from engine.pipeline.denoise.passes import DenoisingPass
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.ranges import invalid
from engine.pipeline.vae.autoencoding import Autoencoder
from engine.pipeline.vae.networks import VaeNetworks
from engine.preprocessors.map_maker import MakeMaps
from engine.preprocessors.scales import Pixels


class ReadOwnMap(msgspec.Struct, frozen=True, eq=False):
    """A control layer that the denoiser itself follows, with its picture uint8 [height, width, 3].

    `first` is the height and width of the job's first pass in pixels, for which its map is made.
    `place` is that of the map on a canvas that has grown around the picture.
    """

    layer: ControlLayer
    picture: Pixels
    kind: ControlKind | None
    image_sha256: str
    preprocessor_digest: str
    make_maps: MakeMaps
    first: tuple[int, int]
    place: Place | None = None


def map_followers(checkpoints: JobCheckpoints) -> tuple[IdentifiedCheckpoint, ...]:
    """Return the checkpoint of each run of a job whose denoiser follows a map itself."""
    return tuple(used for used in checkpoints.runs if used.architecture.features.follows_map)


def require_own_map(
    layers: Sequence[ControlLayer], checkpoints: JobCheckpoints
) -> ControlLayer | None:
    """Return the one layer that a job's denoisers follow; None where none of them follows a map.

    Raises EngineError(REQUEST_INVALID) where the map lacks, for several, and for one with a mask;
    EngineError(CHECKPOINT_INCOMPLETE) for a VAE that has no encoder.
    """
    followers = map_followers(checkpoints)
    if not followers:
        return None
    name = followers[0].path.name
    own = [
        layer
        for layer in layers
        if layer.network is None and not layer.is_reference and layer.image
    ]
    if not own:
        raise invalid(
            sentence("{path} follows a map, and there is none.", path=name),
            sentence("Add a control layer with the picture that it follows."),
        )
    if len(own) > 1:
        raise invalid(
            sentence("{path} follows one map at a time.", path=name),
            sentence("Turn off the other control layers."),
        )
    if own[0].mask is not None:
        raise invalid(
            sentence("{path} follows its map in the whole picture.", path=name),
            sentence("Take the mask off its control layer."),
        )
    for follower in followers:
        follower.architecture.autoencoder.require_encoder()
    return own[0]


def own_map_warnings(layer: ControlLayer) -> tuple[ErrorInfo, ...]:
    """Return a warning about a weight, range or mode, which the model has no place for."""
    usual = layer.weight == 1 and layer.range == (0, 1) and layer.mode is ControlMode.BALANCED
    if usual:
        return ()
    return (
        ErrorInfo(
            ErrorCode.NOT_AVAILABLE,
            sentence("The model follows its own map in full, in all steps."),
            sentence("Weight, steps and balance of its control layer have no effect."),
        ),
    )


@dataclass(slots=True, eq=False)
class OwnMapPass:
    """The map that the denoiser of a pass follows; `vae` has the networks that encode it."""

    read: ReadOwnMap
    pass_: DenoisingPass
    vae: VaeNetworks
    map_sha256: str = field(default="", init=False)
    _encoded: EncodedImage | None = field(default=None, init=False)

    def encode(self, vae: Autoencoder, cancel: Cancellation) -> None:
        """Make the map and encode it, unless that was done.

        Raises as `Autoencoder.encode` and the maker of maps.
        """
        if self._encoded is not None:
            return
        read, request = self.read, self.pass_.request
        pixels, place, (height, width) = read.picture, read.place, read.first
        made_for = (width, height) if place is None else place.within((width, height))
        wanted = wanted_map(read.layer, pixels, made_for)
        if wanted is not None:
            (pixels,) = read.make_maps((wanted,), cancel)
        size, rules = (request.width, request.height), request.convention.control
        if place is None:
            levels = fitted_map(pixels, size, read.layer.resize, rules.resampling)
        else:
            levels = placed_map(pixels, place, size, rules.resampling)
        self.map_sha256 = FittedMap(levels).sha256
        (self._encoded,) = vae.encode([as_samples(levels)])

    @property
    def report(self) -> ControlReport:
        """The part of a record about the layer, whose network is the checkpoint itself."""
        read = self.read
        return ControlReport(
            name=name_of(self.pass_.checkpoint.path),
            kind=read.kind,
            weight=read.layer.weight,
            preprocessor_digest=read.preprocessor_digest,
            map_sha256=self.map_sha256,
            image_sha256=read.image_sha256,
        )

    def beside(self, canvas: EncodedCanvas) -> EncodedCanvas:
        """Return a canvas with the encoded map beside it."""
        assert self._encoded is not None, "the map is encoded before the first step"
        return msgspec.structs.replace(canvas, map=self._encoded)
