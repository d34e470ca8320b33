"""The control layers of a request with their files read: networks, pictures and masks."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from engine.api.control import ControlLayer, ControlReport, ControlResize
from engine.api.preprocessors import PREPROCESSORS, ControlKind, name_of
from engine.api.record import ResolvedRequest
from engine.api.remedies import DeclareControlKind
from engine.api.sentences import sentence
from engine.api.values import ConventionName, ErrorCode, ErrorInfo
from engine.control.control_model import ControlModel
from engine.control.model import control_model
from engine.control.network import BorrowedSizes, ControlForm, ControlNetSizes, ControlNetwork
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.pipeline.canvas.canvas import Part, grown_start, painted_levels
from engine.pipeline.canvas.growth import Place, place_on_canvas
from engine.pipeline.canvas.pictures import read_mask, read_picture
from engine.pipeline.control.fitting import part_of
from engine.pipeline.control.own_map import (
    ReadOwnMap,
    map_followers,
    own_map_warnings,
    require_own_map,
)
from engine.pipeline.control.reference import ReadReference, require_reference
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.left_out import control_left_out
from engine.pipeline.network_lookup import content_digest, short_hash
from engine.pipeline.ranges import invalid
from engine.preprocessors.map_maker import MakeMaps, plain_maps
from engine.preprocessors.scales import Pixels

# The least level of a channel of a map that shows something, and of a mask that paints.
_SEEN, _PAINTED = 4, 128


class ReadLayer(msgspec.Struct, frozen=True, eq=False):
    """A control layer whose files are read.

    `picture` is the layer's picture, uint8 [height, width, 3]: its map, or what the preprocessor
    makes a map of. `mask` is white where the layer acts or an inpainting network paints. `place` is
    that of its map on a canvas that has grown around the picture.
    """

    layer: ControlLayer
    network: ControlNetwork
    picture: Pixels
    kind: ControlKind | None = None
    mask: Image.Image | None = None
    image_sha256: str = ""
    preprocessor_digest: str = ""
    place: Place | None = None

    @property
    def paints(self) -> bool:
        """True if the network is told the part to paint by its map."""
        return _paints(self.network, self.kind)

    def size_on(self, canvas: tuple[int, int]) -> tuple[int, int]:
        """Return the width and height of its map on a canvas of this width and height."""
        return canvas if self.place is None else self.place.within(canvas)

    @property
    def is_within(self) -> bool:
        """True if the denoiser's own graph has its network."""
        return self.network.form is ControlForm.LLLITE

    @property
    def acts_in_part(self) -> bool:
        """True if its residuals are confined to its mask."""
        return self.mask is not None and not self.paints

    @property
    def means(self) -> bool:
        """True if its residuals are means over the picture, as those of shuffled pictures."""
        match self.network.sizes:
            case ControlNetSizes(config):
                return config.pools
            case BorrowedSizes(pools=pools):
                return pools
            case _:
                return False

    def report(self, map_sha256: str) -> ControlReport:
        """Return what a record tells of the layer."""
        return ControlReport(
            name=self.network.name,
            path=str(self.network.path),
            digest=self.network.digest,
            kind=self.kind,
            weight=self.layer.weight,
            preprocessor_digest=self.preprocessor_digest,
            short_hash=short_hash(self.network.path),
            map_sha256=map_sha256,
            image_sha256=self.image_sha256,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ReadLayers:
    """The layers of a request that act, and warnings about those that do not, or hardly.

    `size` is the height and width of the request's picture in its first pass, in pixels.
    """

    acting: tuple[ReadLayer, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()
    left_out: tuple[ControlReport, ...] = ()
    make_maps: MakeMaps = plain_maps
    size: tuple[int, int] | None = None
    reference: ReadReference | None = None
    own_map: ReadOwnMap | None = None
    # Models by their network, checkpoint and tool: what is known of theirs is not found out anew.
    _models: dict[tuple[object, ...], ControlModel] = field(
        default_factory=dict[tuple[object, ...], ControlModel], init=False
    )

    def model(
        self, network: ControlNetwork, checkpoint: IdentifiedCheckpoint, tool: ConventionName
    ) -> ControlModel:
        """Return the networks of a layer's network for a checkpoint: the same object each time.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        # The model keeps both alive, so that `id`s stay unique.
        key = id(network), id(checkpoint), tool
        if key not in self._models:
            self._models[key] = control_model(network, checkpoint, tool)
        return self._models[key]

    @property
    def reports_of_references(self) -> tuple[ControlReport, ...]:
        """The part of a record about a reference."""
        return (self.reference.report,) if self.reference else ()


NO_LAYERS = ReadLayers()


def read_layers(
    request: ResolvedRequest,
    checkpoints: JobCheckpoints,
    make_maps: MakeMaps = plain_maps,
    part: Part | None = None,
) -> ReadLayers:
    """Read the control layers of a request.

    Layers see the `part` of the canvas that is drawn alone; references see whole pictures. Raises
    EngineError: CHECKPOINT_MISMATCH for a network of another family, REQUEST_INVALID for what
    cannot act as it is asked to, INPUT_IMAGE_UNREADABLE, and those of `read_control_network`.
    """
    acting: list[ReadLayer] = []
    warnings: list[ErrorInfo] = []
    left_out: list[ControlReport] = []
    reference: ReadReference | None = None
    size = request.height, request.width
    own = require_own_map(request.controls, checkpoints)
    own_map = _own_map(own, request, checkpoints, make_maps, part) if own else None
    for layer in request.controls:
        if layer is own:
            warnings += own_map_warnings(layer)
            continue
        if (lack := control_left_out(layer)) is not None:
            warnings.append(lack)
            left_out.append(ControlReport(name=layer.network or "", weight=layer.weight))
            continue
        if layer.is_reference:
            require_reference(layer, request, checkpoints)
            reference = _reference(layer)
            continue
        acting.append(_fitting(layer, request, checkpoints.first, part))
        # A part may rightly have nothing to follow.
        warnings += () if part else (*_nothing_seen(acting[-1]), *_nothing_painted(acting[-1]))
    layers = ReadLayers(
        tuple(acting), tuple(warnings), tuple(left_out), make_maps, size, reference, own_map
    )
    return _together(layers)


def _fitting(
    layer: ControlLayer,
    request: ResolvedRequest,
    checkpoint: IdentifiedCheckpoint,
    part: Part | None,
) -> ReadLayer:
    """Read a layer with a network. Raises EngineError for one that cannot lead the checkpoint."""
    assert layer.network is not None, "a layer that lacks nothing has a network"
    network = read_control_network(Path(layer.network))
    _require_whole(layer, network)
    # Refuses what does not fit.
    model = control_model(network, checkpoint, request.convention.name)
    fitting = _read(layer, network, request, part)
    _require_kind(fitting)
    model.step_inputs([fitting.kind] if fitting.kind else [])  # refuses what it was not trained on
    return fitting


def _together(read: ReadLayers) -> ReadLayers:
    """Return layers that go together. Raises EngineError(REQUEST_INVALID) for others."""
    if read.reference is not None and any(layer.is_within for layer in read.acting):
        raise invalid(
            sentence("A reference picture and a ControlNet-LLLite do not go together."),
            sentence("Turn one of the two off."),
        )
    return read


def _reference(layer: ControlLayer) -> ReadReference:
    path = Path(layer.image)
    return ReadReference(layer, np.asarray(read_picture(path)), _digest(path))


def _own_map(
    layer: ControlLayer,
    request: ResolvedRequest,
    checkpoints: JobCheckpoints,
    make_maps: MakeMaps,
    part: Part | None,
) -> ReadOwnMap:
    path, kind = Path(layer.image), layer.kind or _made_kind(layer)
    follower, picture = map_followers(checkpoints)[0], read_picture(path)
    return ReadOwnMap(
        layer,
        np.asarray(_shown(picture, layer, part)),
        kind or follower.architecture.features.own_map,
        _digest(path),
        _weights_digest(layer),
        make_maps,
        (request.height, request.width),
        place_on_canvas(request, path, picture.size),
    )


def _weights_digest(layer: ControlLayer) -> str:
    """Return the digest of a preprocessor's weights; empty for none."""
    weights = layer.preprocessor_weights
    return (content_digest(Path(weights)) if weights else None) or ""


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _read(
    layer: ControlLayer,
    network: ControlNetwork,
    request: ResolvedRequest,
    part: Part | None,
) -> ReadLayer:
    path = Path(layer.image)
    picture = read_picture(path)
    # What tensors state decides: nothing else can be followed.
    kind = network.stated_kind or layer.kind or _made_kind(layer) or network.kind
    paints, place = _paints(network, kind), place_on_canvas(request, path, picture.size)
    mask = _mask(layer, request, place, part, paints=paints)
    if paints and place is not None:
        # It sees the margins as a part to paint.
        picture, place = grown_start(request)[0], None
    picture = _shown(picture, layer, part)
    if mask is None and network.sees_mask:
        mask = Image.new("L", picture.size)
    return ReadLayer(
        layer,
        network,
        np.asarray(picture),
        kind,
        mask,
        _digest(path),
        _weights_digest(layer),
        place,
    )


def _paints(network: ControlNetwork, kind: ControlKind | None) -> bool:
    return kind is ControlKind.INPAINT and network.sees_painting


def _made_kind(layer: ControlLayer) -> ControlKind | None:
    """Return the kind of map that a layer's preprocessor makes."""
    if layer.preprocessor is None:
        return None
    return PREPROCESSORS[name_of(layer.preprocessor)].serves[0]


def _shown(picture: Image.Image, layer: ControlLayer, part: Part | None) -> Image.Image:
    """Return the part of a layer's picture, or of its mask, that is drawn alone, or all of it."""
    return part_of(picture, part, layer.resize) if part else picture


def _mask(
    layer: ControlLayer,
    request: ResolvedRequest,
    place: Place | None,
    part: Part | None,
    *,
    paints: bool,
) -> Image.Image | None:
    if layer.mask is not None:
        own = read_mask(Path(layer.mask))
        if place is not None:
            own = place.covered(own, around=255 if paints else 0)
        return _shown(own, layer, part)
    painted = painted_levels(request) if paints else None
    if painted is None or part is None:
        return painted
    return part_of(painted, part, ControlResize.STRETCH)


def _require_kind(layer: ReadLayer) -> None:
    """Raise EngineError(REQUEST_INVALID) for a map of unknown kind that a union is to follow."""
    if layer.network.form is ControlForm.UNION and layer.kind is None:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "{network} follows several kinds of maps, and the kind of {image} is not known.",
                network=layer.network.name,
                image=Path(layer.layer.image).name,
            ),
            remedies=(DeclareControlKind(kinds=tuple(layer.network.kinds)),),
        )


def _require_whole(layer: ControlLayer, network: ControlNetwork) -> None:
    """Raise EngineError(REQUEST_INVALID) for a network that cannot be confined to a mask."""
    if layer.mask is not None and network.form is ControlForm.LLLITE:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "{path} is {title}, which acts on the whole picture.",
                path=network.path.name,
                title=network.title,
            ),
            sentence("Take the mask off its control layer."),
        )


def _nothing_seen(layer: ReadLayer) -> tuple[ErrorInfo, ...]:
    """Return a warning about a map that is black."""
    if layer.layer.preprocessor is not None or layer.picture.max() >= _SEEN:
        return ()
    told = ErrorInfo(
        ErrorCode.NOT_AVAILABLE,
        sentence(
            "The map {image} is black, so {network} has nothing to follow.",
            image=Path(layer.layer.image).name,
            network=layer.network.name,
        ),
        sentence("Choose a preprocessor, if it is a picture of which a map is to be made."),
    )
    return (told,)


def _nothing_painted(layer: ReadLayer) -> tuple[ErrorInfo, ...]:
    """Return a warning about a network for painting that is to keep all, or was made for none.

    A picture that is surrounded has something to paint, whatever its mask.
    """
    name, image = layer.network.name, Path(layer.layer.image).name
    if layer.kind is ControlKind.INPAINT and not layer.paints:
        blind = ErrorInfo(
            ErrorCode.NOT_AVAILABLE,
            sentence(
                "{network} was not trained to paint a part: it follows all of {image}.",
                network=name,
                image=image,
            ),
            sentence("Choose a ControlNet for inpainting, or another kind of map."),
        )
        return (blind,)
    surrounded = layer.layer.resize is ControlResize.FILL and layer.mask is not None
    is_marked = layer.mask is not None and np.asarray(layer.mask).max() >= _PAINTED
    if not layer.paints or surrounded or is_marked:
        return ()
    told = ErrorInfo(
        ErrorCode.NOT_AVAILABLE,
        sentence(
            "{network} paints a part of {image}, and no mask tells which: it keeps all of it.",
            network=name,
            image=image,
        ),
        sentence("Mark the part on the canvas, or give the control layer a mask."),
    )
    return (told,)
