"""Control networks beside a denoiser: their networks, and their maps, embedded once in a job."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Protocol

import msgspec
import numpy as np

from backends.base import Array, Cancellation, Session
from engine import result_checks
from engine.api.control import ControlReport
from engine.api.control_rules import ControlRules, MapResampling
from engine.api.values import ConventionName, Phase
from engine.compile.network import Network
from engine.compile.shapes import present_sizes
from engine.control.control_model import ControlModel
from engine.control.token_nets import EMBEDDING
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.patches import ComponentPatches
from engine.pipeline.control.acting import ActingSteps, acting_steps
from engine.pipeline.control.fitting import (
    fitted_map,
    fitted_painting,
    kept_cells,
    placed_map,
)
from engine.pipeline.control.layers import ReadLayer, ReadLayers
from engine.pipeline.control.lllites import PassLllites
from engine.pipeline.control.maps import FittedMap, wanted_map
from engine.pipeline.control.units import ControlUnit, units_of
from engine.pipeline.denoise.passes import DenoisingPass, PassStart
from engine.pipeline.denoise.tiles import Tile
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Stages
from engine.pipeline.vae.autoencoding import Autoencoder
from engine.pipeline.vae.networks import VaeNetworks
from engine.preprocessors.map_maker import MakeMaps
from engine.preprocessors.opencv.resizing import resize_linear
from engine.preprocessors.scales import Pixels
from engine.sampling.types import Latent

# The sample that an inpainting network sees where it paints.
_HIDDEN = -1.0


class Sampled(Protocol):
    """Draws a latent of an encoded picture by the noise after so many draws."""

    def __call__(self, encoded: EncodedImage, *, drawn: int) -> Latent:
        """Return the latent."""
        ...


@dataclass(slots=True, eq=False)
class ControlPass:
    """The control layers of a pass: their models for its checkpoint, and their maps.

    `models` has that of each unit; units that follow the same file share one. `size` is the height
    and width of the pass's pictures, `evaluated_size` that of what the denoiser sees at once: a
    tile, or all; `cell` is the side of a latent's cell. `first_size` is the height and width in the
    job's first pass: tools make a map once, for that size, and bring it to those of later passes.
    All are in pixels. `vae` has the networks that encode pictures of the pass, and the maps that
    are encoded so.
    """

    units: tuple[ControlUnit, ...]
    models: tuple[ControlModel, ...]
    rules: ControlRules
    acting: ActingSteps
    size: tuple[int, int]
    evaluated_size: tuple[int, int]
    cell: int
    first_size: tuple[int, int]
    make_maps: MakeMaps
    vae: VaeNetworks
    enlarges: bool = False
    lllites: PassLllites | None = None
    # For each unit, what its embedding network made of its maps.
    embeddings: list[dict[str, Array]] = field(default_factory=list[dict[str, Array]], init=False)
    # The latents of maps that a tool draws, by the places of their units.
    _encoded: dict[int, EncodedImage] = field(default_factory=dict[int, EncodedImage], init=False)
    _map_sha256: dict[int, str] = field(default_factory=dict[int, str], init=False)
    _named: dict[int, Network] = field(default_factory=dict[int, Network], init=False)
    _with_loras: dict[tuple[int, ComponentPatches | None], ControlModel] = field(
        default_factory=dict[tuple[int, ComponentPatches | None], ControlModel], init=False
    )

    def networks(
        self, denoiser: Network, loras: ComponentPatches | None = None
    ) -> tuple[Network, ...]:
        """Return the networks that run at each step, each once: those of `evaluations`."""
        every = self.evaluations(denoiser, loras)
        return tuple({id(network): network for network in every}.values())

    def evaluations(
        self, denoiser: Network, loras: ComponentPatches | None = None
    ) -> tuple[Network, ...]:
        """Return the networks of the evaluations at a step, for a denoiser's sizes and its LoRAs.

        There is one for each unit that does not act within the denoiser, in their order; units that
        follow the same file have the same one.
        """
        sizes = present_sizes(denoiser.dimensions)
        contexts, tokens, rows = sizes["contexts"], sizes["tokens"], sizes["batch"]
        found: list[Network] = []
        for place in range(len(self.models)):
            model = self._model(place, loras)
            network = model.denoising(
                *self.evaluated_size, contexts=contexts, tokens=tokens, rows=rows
            )
            if network is not None:
                found.append(self._for_place(network, self.first_alike(place)))
        return tuple(found)

    def first_alike(self, place: int) -> int:
        """Return the place of the first unit that has the model of the one at `place`."""
        return next(i for i, model in enumerate(self.models) if model is self.models[place])

    def _model(self, place: int, loras: ComponentPatches | None) -> ControlModel:
        """Return a unit's model with the denoiser's LoRAs; the same object each time."""
        place = self.first_alike(place)
        key = place, loras
        if key not in self._with_loras:
            self._with_loras[key] = self.models[place].with_loras(loras)
        return self._with_loras[key]

    @property
    def cells(self) -> tuple[int, int]:
        """The height and width in cells of the whole latents."""
        return self.size[0] // self.cell, self.size[1] // self.cell

    def evaluated_cells(self, place: int) -> tuple[int, int]:
        """Return the height and width of what the denoiser sees at once, in a network's cells."""
        cell = self.models[place].cell
        height, width = self.evaluated_size
        return -(-height // cell), -(-width // cell)

    def of_maps(self, place: int, tile: Tile | None) -> dict[str, Array]:
        """Return what a unit's network is given of its maps: of a tile, or where it is the same.

        Where the denoiser sees tiles, only what is no image is the same at all evaluations.
        """
        made = self.embeddings[place]
        if tile is not None:
            return {name: self.part(array, tile) for name, array in made.items() if array.ndim == 4}
        whole = self.evaluated_size == self.size
        return {name: array for name, array in made.items() if whole or array.ndim != 4}

    def part(self, image: Array, tile: Tile) -> Array:
        """Return the part of an image [1, C, H, W] of the whole picture that a tile shows."""
        scale, (height, width) = round(self.cells[0] / image.shape[2]), tile.size
        top, left = tile.rows.start // scale, tile.columns.start // scale
        shown = image[:, :, top : top - (-height // scale), left : left - (-width // scale)]
        return np.ascontiguousarray(shown)

    def embedding_runs(self) -> tuple[Run, ...]:
        """Return the runs by which maps are embedded, once in a job."""
        every = self.embedding_networks
        embedding = (
            (Run(Phase.ENCODE, network),) if network else self.vae.encoding(1) for network in every
        )
        return tuple(chain.from_iterable(embedding))

    @property
    def embedding_networks(self) -> tuple[Network | None, ...]:
        """The network that embeds the maps of each unit; None where the VAE encodes them."""
        return tuple(map(self._embedding, range(len(self.units))))

    def embed(self, stages: Stages, vae: Autoencoder) -> None:
        """Make the maps and embed them, unless that was done. Raises as `Stages.run`.

        `vae` is that of the networks `vae`.
        """
        places = range(len(self.embeddings), len(self.units))
        maps = self._maps(places, stages.cancel)
        for place in places:
            unit, model = self.units[place], self.models[place]
            samples = [_samples(layer, maps[id(layer)]) for layer in unit.layers]
            feeds = model.shown(np.concatenate(samples), unit.kinds)
            feeds |= model.map_inputs(unit.kinds, unit.weights)
            if (network := self._embedding(place)) is None:
                kept = maps[id(unit.layers[0])].kept
                made = self._encode_map(place, feeds["image"], kept, vae)
            else:
                work = partial(_called, stages, feeds)
                made = model.embedded(stages.run(Phase.ENCODE, network, work, _problem))
            sizes = model.size_inputs(*self.evaluated_size)
            self.embeddings.append({**made, **model.step_inputs(unit.kinds), **sizes})
        for key, map_ in maps.items():
            self._map_sha256[key] = map_.sha256

    def _encode_map(
        self, place: int, image: Array, kept: Array | None, vae: Autoencoder
    ) -> dict[str, Array]:
        """Return the mean of a map's latent, and the mask of cells; keep a latent that is drawn."""
        model, (latent,) = self.models[place], vae.encode([image])
        encoded = model.encoded(latent)
        if model.draws_latent:
            self._encoded[place] = encoded
        if kept is None:
            return {EMBEDDING: encoded.mean}
        return {EMBEDDING: np.concatenate([encoded.mean, kept[None, None]], axis=1)}

    def draw(self, sampled: Sampled) -> int:
        """Draw the latents of maps by `sampled`, given draws of noise; return the draws."""
        drawn = 0
        for place, encoded in self._encoded.items():
            latent = sampled(encoded, drawn=drawn)
            self.embeddings[place] = self.embeddings[place] | {EMBEDDING: latent}
            drawn += encoded.deviation is not None
        return drawn

    def _maps(self, places: Sequence[int], cancel: Cancellation) -> dict[int, FittedMap]:
        """Return the maps of the layers of units, by the layers' ids."""
        placed = {
            id(layer): (layer, place) for place in places for layer in self.units[place].layers
        }
        wanted = {
            key: wanted_map(
                layer.layer,
                layer.picture,
                layer.size_on(self._map_size(place, self.first_size)),
            )
            for key, (layer, place) in placed.items()
        }
        asked = {key: map_ for key, map_ in wanted.items() if map_ is not None}
        made = dict(zip(asked, self.make_maps(tuple(asked.values()), cancel), strict=True))
        return {
            key: self._fitted(layer, made.get(key, layer.picture), place)
            for key, (layer, place) in placed.items()
        }

    def _fitted(self, layer: ReadLayer, pixels: Pixels, place: int) -> FittedMap:
        """Return a layer's map at the pass's size."""
        size, mode = self._map_size(place, self.size), layer.layer.resize
        resampling = self.rules.resampling
        if layer.paints and (mask := layer.mask) is not None:
            seen = fitted_painting(pixels, mask, size, mode, resampling)
            if not layer.network.sees_mask:
                return FittedMap(*seen)
            return FittedMap(*seen, kept_cells(pixels, mask, size, self.cell, mode, resampling))
        if layer.place is not None:
            return FittedMap(placed_map(pixels, layer.place, size, resampling))
        return FittedMap(fitted_map(pixels, size, mode, resampling))

    def _map_size(self, place: int, picture: tuple[int, int]) -> tuple[int, int]:
        """Return the width and height of a unit's maps for a picture of this height and width."""
        height, width = self.models[place].map_size(*picture)
        return width, height

    def area(self, place: int) -> Array | None:
        """Return where a unit's residuals act, float32 [height, width, 1]; None for everywhere.

        ComfyUI's Advanced-ControlNet brings a mask to the picture's size before the residuals';
        sd-webui-controlnet takes it as it is.
        """
        layer = self.units[place].leader
        if layer.mask is None or not layer.acts_in_part:
            return None
        grey = np.asarray(layer.mask, np.float32)[:, :, np.newaxis] / np.float32(255)
        if self.rules.resampling is MapResampling.NEAREST:
            return resize_linear(grey, self.size[1], self.size[0])
        return grey

    def reports(self, layers: Sequence[ReadLayer]) -> tuple[ControlReport, ...]:
        """Return what a record tells of its layers, once their maps are made."""
        return tuple(layer.report(self._map_sha256[id(layer)]) for layer in layers)

    def _embedding(self, place: int) -> Network | None:
        """Return the network that embeds a unit's maps; None where the VAE encodes them."""
        maps = len(self.units[place].layers)
        network = self.models[place].embedding(*self.size, maps=maps)
        return network and self._for_place(network, self.first_alike(place))

    def _for_place(self, network: Network, place: int) -> Network:
        """Return a network under a name of its own, so that several are loaded together."""
        if place == 0:
            return network
        if id(network) not in self._named:
            self._named[id(network)] = msgspec.structs.replace(
                network, name=f"{network.name} {place + 1}"
            )
        return self._named[id(network)]


def control_pass(layers: ReadLayers, pass_: DenoisingPass, vae: VaeNetworks) -> ControlPass | None:
    """Return the layers that lead a pass; None for none, and for a refiner, which none fits.

    `vae` has the networks that encode pictures of its size.
    Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint that a network does not fit.
    """
    if not layers.acting or pass_.begins_with is PassStart.HANDOVER:
        return None
    convention, size = pass_.request.convention, (pass_.request.height, pass_.request.width)
    units = units_of(layers.acting, convention.name)
    models = tuple(_models(units, layers, pass_.checkpoint, convention.name))
    return ControlPass(
        units=units,
        models=models,
        rules=convention.control,
        acting=acting_steps(pass_.request, pass_.denoising),
        size=size,
        evaluated_size=pass_.evaluated_size,
        cell=pass_.checkpoint.latent.downscale,
        first_size=layers.size or size,
        make_maps=layers.make_maps,
        vae=vae,
        enlarges=pass_.begins_enlarged,
        lllites=PassLllites.of(models),
    )


def _models(
    units: Sequence[ControlUnit],
    read: ReadLayers,
    checkpoint: IdentifiedCheckpoint,
    tool: ConventionName,
) -> Iterator[ControlModel]:
    """Yield the model of each unit: the same object for the same file, which is loaded once.

    What acts within the denoiser has no network of its own.
    """
    known: dict[object, ControlModel] = {}
    for place, unit in enumerate(units):
        network = unit.leader.network
        key = place if unit.leader.is_within else (network.path, network.digest)
        if key not in known:
            known[key] = read.model(network, checkpoint, tool)
        yield known[key]


def _called(stages: Stages, feeds: Mapping[str, Array], session: Session) -> dict[str, Array]:
    return stages.call(session, feeds)


def _problem(made: Mapping[str, Array]) -> str | None:
    return next(filter(None, map(result_checks.numbers, made.values())), None)


def _samples(layer: ReadLayer, made: FittedMap) -> Array:
    """Return a map as its network takes it: float32 [1, 3, height, width] in [0, 1].

    What an inpainting network paints is -1 there (diffusers' `make_inpaint_condition`), and black
    for a union of kinds and for a network that sees a mask beside it.
    """
    samples = made.levels.astype(np.float32) / 255
    if made.painted is not None:
        is_black = layer.network.kinds or layer.network.sees_mask
        samples[made.painted] = 0.0 if is_black else _HIDDEN
    return np.ascontiguousarray(samples.transpose(2, 0, 1)[None])
