"""Control networks beside a denoiser: their maps once in a job, their residuals at each step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image

from backends.base import Array, Cancellation, Session
from engine import result_checks
from engine.api.control import ControlReport
from engine.api.control_rules import ControlRules
from engine.api.values import Phase
from engine.compile.network import Network
from engine.control.model import ControlModel, control_model
from engine.families.patches import ComponentPatches
from engine.pipeline.control.fitting import fitted_map
from engine.pipeline.control.layers import ReadLayer, ReadLayers
from engine.pipeline.control.lllites import PassLllites
from engine.pipeline.control.strengths import (
    StepCount,
    acts_at,
    leads_negative,
    residual_weights,
)
from engine.pipeline.control.units import ControlUnit, units_of
from engine.pipeline.denoise.passes import DenoisingPass
from engine.pipeline.denoise.tiles import Tile
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Stages
from engine.preprocessors.map_maker import MakeMaps, MapOrder, WantedMap
from engine.preprocessors.scales import Pixels
from engine.weights.side_branches import STRENGTHS, pin_branches

# The output of an embedding network that has the latents' cells.
_EMBEDDED = "map_embedding"
# The least level of a mask where an inpainting network paints.
_PAINTED = 128
# What an inpainting network sees there.
_HIDDEN = -1.0


@dataclass(slots=True, eq=False)
class ControlPass:
    """The control layers of a pass: their models for its checkpoint, and their maps.

    `models` has that of each unit. `size` is the height and width of the pass's pictures, `seen`
    that of what the denoiser sees at once: a tile, or all.
    """

    units: tuple[ControlUnit, ...]
    models: tuple[ControlModel, ...]
    rules: ControlRules
    count: StepCount
    size: tuple[int, int]
    seen: tuple[int, int]
    make_maps: MakeMaps
    lllites: PassLllites | None = None
    # For each unit, what its embedding network made of its maps.
    embeddings: list[dict[str, Array]] = field(default_factory=list[dict[str, Array]], init=False)
    _map_sha256: dict[int, str] = field(default_factory=dict[int, str], init=False)
    _named: dict[int, Network] = field(default_factory=dict[int, Network], init=False)
    _with_loras: dict[tuple[int, ComponentPatches | None], ControlModel] = field(
        default_factory=dict[tuple[int, ComponentPatches | None], ControlModel], init=False
    )

    @classmethod
    def of(
        cls,
        read: ReadLayers,
        one: DenoisingPass,
        count: StepCount,
    ) -> "ControlPass":
        """Return the layers for a pass, whose checkpoint they fit."""
        convention = one.request.convention
        units = units_of(read.acting, convention.name)
        models = tuple(control_model(own.layers[0].network, one.checkpoint) for own in units)
        size, rules = (one.request.height, one.request.width), convention.control
        given = units, models, rules, count, size, one.evaluated_size, read.make_maps
        return cls(*given, PassLllites.of(models))

    def networks(
        self, denoiser: Network, loras: ComponentPatches | None = None
    ) -> tuple[Network, ...]:
        """Return the networks that run at each step, for a denoiser's sizes and its LoRAs.

        There is one for each unit that has any: an adapter has none.
        """
        sizes = {name: one.optimum for name, one in denoiser.dimensions.items()}
        contexts, tokens, rows = sizes["contexts"], sizes["tokens"], sizes["batch"]
        found: list[Network] = []
        for place in range(len(self.models)):
            model = self._model(place, loras)
            network = model.denoising(*self.seen, contexts=contexts, tokens=tokens, rows=rows)
            if network is not None:
                found.append(self._for_place(network, place))
        return tuple(found)

    def _model(self, place: int, loras: ComponentPatches | None) -> ControlModel:
        """Return a unit's model with the denoiser's LoRAs; the same object each time."""
        key = place, loras
        if key not in self._with_loras:
            self._with_loras[key] = self.models[place].with_loras(loras)
        return self._with_loras[key]

    def cells(self, tile: Tile) -> tuple[int, int]:
        """Return the height and width in cells of the whole latents, of which a tile is seen."""
        cell = self.seen[0] // tile.size[0]
        return self.size[0] // cell, self.size[1] // cell

    def embedding_runs(self) -> tuple[Run, ...]:
        """Return the runs by which maps are embedded, once in a job."""
        return tuple(Run(Phase.ENCODE, self._embedding(place)) for place in range(len(self.units)))

    def embed(self, stages: Stages) -> None:
        """Make the maps and embed them, unless that was done. Raises as `Stages.run`."""
        places = range(len(self.embeddings), len(self.units))
        maps = self._maps(places, stages.cancel)
        for place in places:
            unit, model = self.units[place], self.models[place]
            samples = [_samples(layer, maps[id(layer)]) for layer in unit.layers]
            told = model.map_inputs(unit.kinds, unit.weights)
            work = partial(_called, stages, {"map": np.concatenate(samples), **told})
            made = stages.run(Phase.ENCODE, self._embedding(place), work, _problem)
            self.embeddings.append({**made, **model.step_inputs(unit.kinds)})
        for key, pixels in maps.items():
            self._map_sha256[key] = sha256(pixels.tobytes()).hexdigest()

    def _maps(self, places: Sequence[int], cancel: Cancellation) -> dict[int, Pixels]:
        """Return the maps of the layers of units, uint8 [height, width, 3], by their ids."""
        sized = {
            id(layer): (layer, self._map_size(place))
            for place in places
            for layer in self.units[place].layers
        }
        wanted = {key: _wanted_map(*one) for key, one in sized.items()}
        asked = {key: one for key, one in wanted.items() if one is not None}
        made = dict(zip(asked, self.make_maps(tuple(asked.values()), cancel), strict=True))
        return {
            key: fitted_map(
                made.get(key, layer.picture), size, layer.layer.resize, self.rules.resampling
            )
            for key, (layer, size) in sized.items()
        }

    def _map_size(self, place: int) -> tuple[int, int]:
        """Return the width and height of the maps of a unit."""
        height, width = self.models[place].map_size(*self.size)
        return width, height

    def reports(self, layers: Sequence[ReadLayer]) -> tuple[ControlReport, ...]:
        """Return what a record tells of its layers, once their maps are made."""
        return tuple(layer.report(self._map_sha256[id(layer)]) for layer in layers)

    def _embedding(self, place: int) -> Network:
        maps = len(self.units[place].layers)
        return self._for_place(self.models[place].embedding(*self.size, maps=maps), place)

    def _for_place(self, network: Network, place: int) -> Network:
        """Return a network under a name of its own, so that several are loaded together."""
        if place == 0:
            return network
        if id(network) not in self._named:
            self._named[id(network)] = replace(network, name=f"{network.name} {place + 1}")
        return self._named[id(network)]


@dataclass(frozen=True, slots=True)
class ControlInputs:
    """The inputs of a denoiser at an evaluation, without concatenated channels.

    `sample` is [batch, channels, height, width]; `texts` are the inputs of the prompts, the first
    `positives` of whose rows are the positive ones, and the same object while they stay. `tile` is
    the part of the latents that is seen; None: all. `strengths` are those of LoRAs beside the
    denoiser's layers, if it has some.
    """

    evaluation: int
    timestep: float
    sample: Array
    texts: Mapping[str, Array]
    positives: int
    level: Mapping[str, Array]
    tile: Tile | None
    strengths: Array | None


class ControlRun:
    """The control networks of a pass, loaded: residuals for a denoiser at its evaluations.

    `sessions` are those of the `networks`, of which the first is the denoiser.
    """

    def __init__(
        self,
        own: ControlPass,
        networks: Sequence[Network],
        sessions: Sequence[Session],
        stages: Stages,
    ) -> None:
        self._pass, self._stages = own, stages
        self._leaders = [unit.leader for unit in own.units]
        # For each network the texts that are pinned, and how many of their rows.
        self._texts: dict[int, tuple[Mapping[str, Array], int]] = {}
        steps = [place for place, layer in enumerate(self._leaders) if layer.runs_each_step]
        self._sessions = dict(zip(steps, sessions[1:], strict=True))
        self._taken: dict[int, set[str]] = {}
        self._denoiser = sessions[0]
        self._tile: Tile | None = None
        self._lllite_maps: dict[str, Array] = {}
        for network, session in zip(networks[1:], sessions[1:], strict=True):
            pin_branches(session, network.branches)
        for place, session in self._sessions.items():
            embedding = own.embeddings[place]
            self._taken[place] = taken = {spec.name for spec in session.inputs}
            for name in embedding.keys() & taken:
                session.pin(name, embedding[name])
        if own.lllites is not None:
            self._lllite_maps = own.lllites.inputs.of_maps(own.lllites.embedded(own.embeddings))
            pinned = {} if own.seen != own.size else self._lllite_maps
            for name, array in {**own.lllites.inputs.factors, **pinned}.items():
                self._denoiser.pin(name, array)

    def residuals(self, given: ControlInputs) -> dict[str, Array]:
        """Return the sums of all acting layers' weighted residuals, by the denoiser's inputs.

        Each has a row for each of the texts. They are none where none acts: the denoiser then runs
        as without control. The weights of ControlNet-LLLites are among them.
        """
        sums: dict[str, Array] = {}
        own = self._pass
        for place, layer in enumerate(self._leaders):
            wanted = layer.layer
            at = given.evaluation, given.timestep
            is_within = own.lllites is not None and place in own.lllites.places
            acts = acts_at(wanted.range, own.rules.acting_steps, own.count, *at)
            if is_within or not wanted.weight or not acts:
                continue
            for name, residual in self._of_layer(place, given).items():
                sums[name] = sums[name] + residual if name in sums else residual
        return sums if own.lllites is None else sums | self._of_lllites(own.lllites, given)

    def pin_tile(self, tile: Tile) -> None:
        """Pin what ControlNet-LLLites see of their maps in the tile that is seen next."""
        if tile is self._tile:
            return
        for name, image in self._lllite_maps.items():
            part = _part(image.transpose(0, 3, 1, 2), tile, self._pass)
            self._denoiser.pin(name, np.ascontiguousarray(part.transpose(0, 2, 3, 1)))
        self._tile = tile

    def _of_lllites(self, own: PassLllites, given: ControlInputs) -> dict[str, Array]:
        """Return the weights of ControlNet-LLLites.

        Modes are no matter to them, as in sd-webui-controlnet: they lead all contexts alike.
        """
        whole, contexts = self._pass, len(given.texts["context"])
        weights: list[list[float]] = []
        for place in own.places:
            wanted, at = self._leaders[place].layer, (given.evaluation, given.timestep)
            acts = acts_at(wanted.range, whole.rules.acting_steps, whole.count, *at)
            weights.append([wanted.weight if acts else 0.0] * contexts)
        return own.inputs.weights(weights)

    def _of_layer(self, place: int, given: ControlInputs) -> dict[str, Array]:
        layer, rules = self._leaders[place], self._pass.rules
        contexts = len(given.texts["context"])
        both = leads_negative(layer.layer, rules, means=layer.means)
        led = contexts if both else given.positives
        if layer.runs_each_step:
            # Only the positive rows are computed, where they are all that is led.
            made = self._made(place, given, led if len(given.sample) == 1 else contexts)
        else:
            images = self._pass.embeddings[place]
            made = {name: _part(image, given.tile, self._pass) for name, image in images.items()}
        weights = residual_weights(
            layer.layer, rules, len(made), means=layer.means, adapts=not layer.runs_each_step
        )
        return {
            name: _weighted(self._masked(layer, residual, given), weight, (led, contexts))
            for (name, residual), weight in zip(made.items(), weights, strict=True)
        }

    def _masked(self, layer: ReadLayer, residual: Array, given: ControlInputs) -> Array:
        """Return a residual without the part where its layer does not act."""
        if layer.mask is None or layer.paints:
            return residual
        height, width = residual.shape[2:]
        mask = layer.mask
        if given.tile is not None:
            tile, cells = given.tile, self._pass.cells(given.tile)
            down, across = mask.height / cells[0], mask.width / cells[1]
            left, right = (tile.columns.start * across, tile.columns.stop * across)
            mask = mask.crop((left, tile.rows.start * down, right, tile.rows.stop * down))
        small = mask.resize((width, height), Image.Resampling.BILINEAR)
        return residual * (np.asarray(small, np.float32) / 255)

    def _made(self, place: int, given: ControlInputs, rows: int) -> Mapping[str, Array]:
        """Run a layer's network for the first `rows` contexts."""
        session, taken = self._sessions[place], self._taken[place]
        texts, pinned = self._texts.get(place, (None, 0))
        if texts is not given.texts or pinned != rows:
            for name in given.texts.keys() & taken:
                session.pin(name, given.texts[name][:rows])
            self._texts[place] = given.texts, rows
        level = {name: given.level[name] for name in given.level.keys() & taken}
        if STRENGTHS in taken and given.strengths is not None:
            level[STRENGTHS] = given.strengths
        if given.tile is not None:
            level[_EMBEDDED] = given.tile.of(self._pass.embeddings[place][_EMBEDDED])
        return self._stages.call(session, {"sample": given.sample, **level})


def _weighted(residual: Array, weight: float, rows: tuple[int, int]) -> Array:
    """Return a residual times its weight, with zeros in the rows that it does not lead.

    `rows` are those that it leads, and all. An adapter's images are the same for each row.
    """
    led, contexts = rows
    if led == contexts == len(residual):
        return residual if weight == 1 else residual * np.float32(weight)
    whole = np.zeros((contexts, *residual.shape[1:]), np.float32)
    whole[:led] = residual[:led] * np.float32(weight)
    return whole


def _wanted_map(read: ReadLayer, size: tuple[int, int]) -> WantedMap | None:
    """Return the order for a layer's map of this width and height; None where it is given."""
    own = read.layer
    if own.preprocessor is None:
        return None
    weights = Path(own.preprocessor_weights) if own.preprocessor_weights else None
    return WantedMap(read.picture, MapOrder(own.preprocessor, weights, own.target(*size)))


def _called(stages: Stages, feeds: Mapping[str, Array], session: Session) -> dict[str, Array]:
    return stages.call(session, feeds)


def _problem(made: Mapping[str, Array]) -> str | None:
    return next(filter(None, map(result_checks.numbers, made.values())), None)


def _samples(layer: ReadLayer, pixels: Pixels) -> Array:
    """Return a map as its network takes it: float32 [1, 3, height, width] in [0, 1].

    What an inpainting network paints is -1 there (diffusers' `make_inpaint_condition`), and black
    for a union of kinds.
    """
    samples = pixels.astype(np.float32) / 255
    if layer.paints and layer.mask is not None:
        mask = layer.mask.resize(pixels.shape[1::-1], Image.Resampling.BILINEAR)
        hidden = 0.0 if layer.network.kinds else _HIDDEN
        samples[np.asarray(mask) >= _PAINTED] = hidden
    return np.ascontiguousarray(samples.transpose(2, 0, 1)[None])


def _part(image: Array, tile: Tile | None, own: ControlPass) -> Array:
    """Return the part of an image of a level for the tile that is seen; all of it without one."""
    if tile is None:
        return image
    cells, (height, width) = own.cells(tile), tile.size
    scale = round(cells[0] / image.shape[2])
    top, left = tile.rows.start // scale, tile.columns.start // scale
    return image[:, :, top : top - (-height // scale), left : left - (-width // scale)]
