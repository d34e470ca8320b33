"""The image prompts of a job: their files found and read, and their networks run."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from backends.base import Array
from engine.api.control import ControlResize
from engine.api.conventions import ImagePrompting
from engine.api.image_prompts import (
    AdapterScaling,
    ImagePrompt,
    ImagePromptReport,
    PictureCombination,
)
from engine.api.record import ResolvedRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorInfo
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.compile.network import Network
from engine.families.architecture import TextAttention
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.image_prompts.adapters import ImageAdapter, read_adapter
from engine.image_prompts.combining import combined, joined
from engine.image_prompts.encoders import VisionEncoder
from engine.image_prompts.encoding import EncodedImagePrompt, ShownPicture, encode, seen
from engine.image_prompts.finding import find_encoder
from engine.image_prompts.masks import Tile, tile_masks
from engine.image_prompts.pictures import clip_pixels, no_pixels
from engine.image_prompts.pinning import ImagePromptShape, PassImagePrompt, PassImagePrompts
from engine.image_prompts.scaling import KeyWeights
from engine.image_prompts.strengths import has_blocks, layer_strengths, turns_away
from engine.image_prompts.turning import TurnedLayers
from engine.pipeline.canvas.canvas import Part
from engine.pipeline.canvas.pictures import read_mask, read_picture
from engine.pipeline.control.acting import ActingSteps
from engine.pipeline.control.fitting import part_of
from engine.pipeline.left_out import image_prompt_left_out
from engine.pipeline.network_lookup import short_hash
from engine.pipeline.ranges import invalid
from engine.pipeline.stages import Stages
from engine.regular_file import open_regular

# The way in which masks of another size than a picture become as large.
_MASKS = ControlResize.STRETCH


class ReadImagePrompt(msgspec.Struct, frozen=True, eq=False):
    """An image prompt whose adapter, encoder and pictures are read.

    `prompt` has the paths of the files that are used. `shown` and `image_sha256` are those of its
    pictures, in order. Networks are made once, so that equal ones are the same object.
    """

    prompt: ImagePrompt
    adapter: ImageAdapter
    encoder: VisionEncoder
    network: Network
    shown: tuple[ShownPicture, ...]
    mask: Image.Image | None
    image_sha256: tuple[str, ...]

    @property
    def shape(self) -> ImagePromptShape:
        """The shape of its keys and values."""
        tokens = self.adapter.config.tokens(self.encoder.config.tokens)
        if self.prompt.combination is PictureCombination.CONCAT:
            tokens *= len(self.shown)
        return ImagePromptShape(tokens, masked=self.mask is not None)

    @property
    def report(self) -> ImagePromptReport:
        """The image prompt for the record."""
        return ImagePromptReport(
            name=self.adapter.path.stem,
            path=str(self.adapter.path),
            digest=self.adapter.digest,
            short_hash=short_hash(self.adapter.path),
            encoder=str(self.encoder.path),
            encoder_digest=self.encoder.digest,
            weight=self.prompt.weight,
            image_sha256=self.image_sha256[0],
            further_sha256=self.image_sha256[1:],
        )


class JobImagePrompts(msgspec.Struct, frozen=True, eq=False):
    """The image prompts of a job that act, and warnings about those that are left out.

    `listed` are all of the request, with the paths of the files that are used.
    """

    listed: tuple[ImagePrompt, ...] = ()
    acting: tuple[ReadImagePrompt, ...] = ()
    reports: tuple[ImagePromptReport, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()
    attention: TextAttention | None = None
    rule: ImagePrompting = ImagePrompting.DIFFUSERS

    @property
    def networks(self) -> tuple[Network, ...]:
        """The vision encoders and adapters that `encode` runs, in that order, each once."""
        encoders = [prompt.shown[0].encoder for prompt in self.acting]
        ran = [*encoders, *(prompt.network for prompt in self.acting)]
        return tuple({id(network): network for network in ran}.values())

    def in_pass(
        self,
        size: tuple[int, int],
        cell: int,
        tiles: Sequence[Tile],
        acting: ActingSteps,
        part: Part | None = None,
    ) -> PassImagePrompts:
        """Return the image prompts in a pass of this width and height, with cells so large.

        The pass sees the rows and columns of each of the `tiles` by themselves. Masks are of the
        whole picture, also where a `part` of it is drawn alone.
        """
        if self.attention is None:
            return PassImagePrompts()
        layers = self.attention.layers
        levels, widths = (
            sorted({layer.level for layer in layers}),
            [layer.width for layer in layers],
        )

        def placed(read: ReadImagePrompt) -> PassImagePrompt:
            mask = part_of(read.mask, part, _MASKS) if read.mask and part else read.mask
            masks = tile_masks(mask, size, cell, tiles, levels, self.rule) if mask else ()
            strengths = read.prompt.weight * layer_strengths(read.prompt.blocks, layers)
            acts, scaling = partial(acting.acts, read.prompt.range), read.prompt.scaling
            marks, weights = turns_away(read.prompt.blocks, layers), None
            turned = TurnedLayers(marks, widths) if marks.any() else None
            if scaling is not AdapterScaling.VALUES:
                weights = KeyWeights(scaling, strengths, widths)
                strengths = (strengths != 0).astype(np.float32)
            return PassImagePrompt(read.shape, strengths, masks, acts, weights, turned)

        return PassImagePrompts(tuple(map(placed, self.acting)))

    def encode(self, stages: Stages) -> tuple[EncodedImagePrompt, ...]:
        """Run encoders on the pictures that they have not seen before, and adapters.

        Raises EngineError as `Stages.run` does.
        """
        assert self.attention is not None or not self.acting, "image prompts act at layers"
        widths = sorted({layer.width for layer in self.attention.layers}) if self.attention else ()
        found: dict[int, EncodedImagePrompt] = {}
        views = self._views(stages)
        # A network is loaded once for all image prompts that use it.
        for places in _alike(prompt.network for prompt in self.acting):
            given, network = [views[place] for place in places], self.acting[places[0]].network
            made = iter(encode(network, widths, list(chain.from_iterable(given)), stages))
            for place, own in zip(places, given, strict=True):
                found[place] = joined([next(made) for _view in own])
        return tuple(found[place] for place in range(len(self.acting)))

    def _views(self, stages: Stages) -> list[list[Array]]:
        """Return what each image prompt shows its adapter: arrays with and without a picture."""
        pictures = [
            (place, shown) for place, prompt in enumerate(self.acting) for shown in prompt.shown
        ]
        seen_by_place: list[list[Array]] = [[] for _prompt in self.acting]
        for numbers in _alike(shown.encoder for _place, shown in pictures):
            views = seen([pictures[number][1] for number in numbers], stages)
            for number, view in zip(numbers, views, strict=True):
                seen_by_place[pictures[number][0]].append(view)
        return [
            combined(views, read.prompt.combination)
            for views, read in zip(seen_by_place, self.acting, strict=True)
        ]


WITHOUT_IMAGE_PROMPTS = JobImagePrompts()


class ImagePromptFiles(msgspec.Struct, frozen=True, eq=False):
    """The files that image prompts may use.

    Encoders are looked for in the `folders`; `read` reads headers.
    """

    read: ReadIndex
    folders: Iterable[Path] = ()


def read_image_prompts(
    request: ResolvedRequest, checkpoint: IdentifiedCheckpoint, files: ImagePromptFiles
) -> JobImagePrompts:
    """Find and read the files of a request's image prompts.

    Raises EngineError: REQUEST_INVALID for a model that takes none and where an encoder is missing,
    CHECKPOINT_MISMATCH for an adapter or an encoder of another kind, INPUT_IMAGE_UNREADABLE, and
    the reader's errors.
    """
    attention, rule = checkpoint.architecture.attention, request.convention.image_prompting
    if attention is None:
        raise invalid(sentence("This model takes no image prompts."))
    reader = _Reader(attention, rule, files)
    listed: list[ImagePrompt] = []
    acting: list[ReadImagePrompt] = []
    reports: list[ImagePromptReport] = []
    warnings: list[ErrorInfo] = []
    for prompt in request.image_prompts:
        lack = image_prompt_left_out(prompt)
        if lack is not None:
            listed.append(prompt)
            warnings.append(lack)
            reports.append(ImagePromptReport(name=prompt.adapter or "", weight=prompt.weight))
            continue
        read = reader.read(prompt, Path(prompt.adapter or ""))
        listed.append(read.prompt)
        reports.append(read.report)
        if prompt.weight != 0:
            acting.append(read)
    return JobImagePrompts(
        tuple(listed),
        tuple(acting),
        tuple(reports),
        tuple(warnings),
        attention,
        rule,
    )


class _Reader:
    """Reads image prompts; the networks of equal files are made once."""

    def __init__(
        self, attention: TextAttention, rule: ImagePrompting, files: ImagePromptFiles
    ) -> None:
        self._attention, self._rule, self._files = attention, rule, files
        self._networks: dict[tuple[str, bool], Network] = {}

    def read(self, prompt: ImagePrompt, path: Path) -> ReadImagePrompt:
        """Read an image prompt with this adapter. Raises EngineError."""
        attention, files = self._attention, self._files
        adapter = read_adapter(path, files.read)
        adapter.require_fitting(attention.layers, attention.context_width)
        if not has_blocks(prompt.blocks, attention.layers):
            raise invalid(
                sentence("It is not known which blocks of this model make style or composition."),
                sentence("Let the image prompt act on all blocks."),
            )
        encoder = find_encoder(adapter, prompt.encoder, files.folders, files.read)
        pictures = [Path(path) for path in (prompt.image, *prompt.further)]
        return ReadImagePrompt(
            prompt=msgspec.structs.replace(prompt, adapter=str(path), encoder=str(encoder.path)),
            adapter=adapter,
            encoder=encoder,
            network=self._adapter(adapter, encoder),
            shown=tuple(self._shown(picture, adapter, encoder) for picture in pictures),
            mask=read_mask(Path(prompt.mask)) if prompt.mask else None,
            image_sha256=tuple(map(_digest, pictures)),
        )

    def _shown(self, picture: Path, adapter: ImageAdapter, encoder: VisionEncoder) -> ShownPicture:
        states, side = adapter.config.sees_states, encoder.config.side
        return ShownPicture(
            self._encoder(encoder, states=states),
            clip_pixels(read_picture(picture), side, self._rule),
            no_pixels(side, self._rule),
            states,
        )

    def _encoder(self, encoder: VisionEncoder, *, states: bool) -> Network:
        return self._once((encoder.digest, states), lambda: encoder.network(states=states))

    def _adapter(self, adapter: ImageAdapter, encoder: VisionEncoder) -> Network:
        key = f"{adapter.digest} {encoder.config.tokens}", True
        layers, tokens = self._attention.layers, encoder.config.tokens
        return self._once(key, lambda: adapter.network(layers, tokens))

    def _once(self, key: tuple[str, bool], make: Callable[[], Network]) -> Network:
        """Return the network of a key, under a name of its own, by which it stays loaded."""
        if key not in self._networks:
            network = make()
            alike = sum(
                adapter.name.startswith(network.name) for adapter in self._networks.values()
            )
            name = f"{network.name} {alike + 1}" if alike else network.name
            self._networks[key] = msgspec.structs.replace(network, name=name)
        return self._networks[key]


def _digest(picture: Path) -> str:
    with open_regular(picture) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _alike(networks: Iterable[Network]) -> list[list[int]]:
    """Return the places of the same networks together."""
    places: dict[int, list[int]] = {}
    for place, network in enumerate(networks):
        places.setdefault(id(network), []).append(place)
    return list(places.values())
