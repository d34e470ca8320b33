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
from engine.pipeline.control.fitting import fitted_map
from engine.pipeline.control.layers import ReadLayer, ReadLayers
from engine.pipeline.control.lllites import PassLllites
from engine.pipeline.control.strengths import (
    StepCount,
    acts_at,
    leads_negative,
    residual_weights,
)
from engine.pipeline.denoise.passes import DenoisingPass
from engine.pipeline.denoise.tiles import Tile
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Stages
from engine.preprocessors.map_maker import MakeMaps, MapOrder, WantedMap
from engine.preprocessors.scales import Pixels

# The output of an embedding network that has the latents' cells.
_EMBEDDED = "map_embedding"
# The least level of a mask where an inpainting network paints.
_PAINTED = 128
# What an inpainting network sees there.
_HIDDEN = -1.0


@dataclass(slots=True, eq=False)
class ControlPass:
    """The control layers of a pass: their models for its checkpoint, and their maps.

    `size` is the height and width of the pass's pictures, `seen` that of what the denoiser sees at
    once: a tile, or all.
    """

    layers: tuple[ReadLayer, ...]
    models: tuple[ControlModel, ...]
    rules: ControlRules
    count: StepCount
    size: tuple[int, int]
    seen: tuple[int, int]
    make_maps: MakeMaps
    lllites: PassLllites | None = None
    # For each layer, what its embedding network made of its map.
    embeddings: list[dict[str, Array]] = field(default_factory=list[dict[str, Array]], init=False)
    map_sha256: list[str] = field(default_factory=list[str], init=False)
    _named: dict[int, Network] = field(default_factory=dict[int, Network], init=False)

    @classmethod
    def of(
        cls,
        read: ReadLayers,
        one: DenoisingPass,
        count: StepCount,
    ) -> "ControlPass":
        """Return the layers for a pass, whose checkpoint they fit."""
        models = tuple(control_model(layer.network, one.checkpoint) for layer in read.acting)
        size, rules = (one.request.height, one.request.width), one.request.convention.control
        given = read.acting, models, rules, count, size, one.evaluated_size, read.make_maps
        return cls(*given, PassLllites.of(models))

    def networks(self, denoiser: Network) -> tuple[Network, ...]:
        """Return the networks that run at each step, for a denoiser's sizes.

        There is one for each layer that has any: an adapter has none.
        """
        sizes = {name: one.optimum for name, one in denoiser.dimensions.items()}
        contexts, tokens, rows = sizes["contexts"], sizes["tokens"], sizes["batch"]
        found: list[Network] = []
        for place, model in enumerate(self.models):
            network = model.denoising(*self.seen, contexts=contexts, tokens=tokens, rows=rows)
            if network is not None:
                found.append(self._for_place(network, place))
        return tuple(found)

    def cells(self, given: "ControlInputs") -> tuple[int, int]:
        """Return the height and width in cells of the whole latents, of which a tile is seen."""
        cell = self.seen[0] // given.sample.shape[2]
        return self.size[0] // cell, self.size[1] // cell

    def embedding_runs(self) -> tuple[Run, ...]:
        """Return the runs by which maps are embedded, once in a job."""
        return tuple(Run(Phase.ENCODE, self._embedding(place)) for place in range(len(self.layers)))

    def embed(self, stages: Stages) -> None:
        """Make the maps and embed them, unless that was done. Raises as `Stages.run`."""
        places = range(len(self.embeddings), len(self.layers))
        for place, pixels in zip(places, self._maps(places, stages.cancel), strict=True):
            layer, model = self.layers[place], self.models[place]
            kinds = [] if layer.kind is None else [layer.kind]
            feeds = {"map": _samples(layer, pixels), **model.map_inputs(kinds, [1.0])}
            work = partial(_called, stages, feeds)
            network = self._embedding(place)
            made = stages.run(Phase.ENCODE, network, work, _problem)
            self.embeddings.append({**made, **model.step_inputs(kinds)})
            self.map_sha256.append(sha256(pixels.tobytes()).hexdigest())

    def _maps(self, places: Sequence[int], cancel: Cancellation) -> list[Pixels]:
        """Return the maps of layers, uint8 [height, width, 3], in the picture's size."""
        wanted = {place: self._wanted_map(place) for place in places}
        asked = {place: one for place, one in wanted.items() if one is not None}
        made = dict(zip(asked, self.make_maps(tuple(asked.values()), cancel), strict=True))
        return [
            fitted_map(
                made.get(place, self.layers[place].picture),
                self._map_size(place),
                self.layers[place].layer.resize,
                self.rules.resampling,
            )
            for place in places
        ]

    def _map_size(self, place: int) -> tuple[int, int]:
        """Return the width and height of a layer's map."""
        height, width = self.models[place].map_size(*self.size)
        return width, height

    def _wanted_map(self, place: int) -> WantedMap | None:
        """Return the order for a layer's map; None where it is given."""
        read, own = self.layers[place], self.layers[place].layer
        if own.preprocessor is None:
            return None
        weights = Path(own.preprocessor_weights) if own.preprocessor_weights else None
        target = own.target(*self._map_size(place))
        return WantedMap(read.picture, MapOrder(own.preprocessor, weights, target))

    def reports(self) -> tuple[ControlReport, ...]:
        """Return what a record tells of the layers, once their maps are made."""
        pairs = zip(self.layers, self.map_sha256, strict=True)
        return tuple(layer.report(digest) for layer, digest in pairs)

    def _embedding(self, place: int) -> Network:
        return self._for_place(self.models[place].embedding(*self.size), place)

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
    the part of the latents that is seen; None: all.
    """

    evaluation: int
    timestep: float
    sample: Array
    texts: Mapping[str, Array]
    positives: int
    level: Mapping[str, Array]
    tile: Tile | None


class ControlRun:
    """The control networks of a pass, loaded: residuals for a denoiser at its evaluations.

    The first of the `sessions` is the denoiser's.
    """

    def __init__(self, own: ControlPass, sessions: Sequence[Session], stages: Stages) -> None:
        self._pass, self._stages = own, stages
        # For each network the texts that are pinned, and how many of their rows.
        self._texts: dict[int, tuple[Mapping[str, Array], int]] = {}
        steps = [place for place, layer in enumerate(own.layers) if layer.runs_each_step]
        self._sessions = dict(zip(steps, sessions[1:], strict=True))
        self._taken: dict[int, set[str]] = {}
        self._lllite_maps: dict[str, Array] = {}
        for place, session in self._sessions.items():
            embedding = own.embeddings[place]
            self._taken[place] = taken = {spec.name for spec in session.inputs}
            for name in embedding.keys() & taken:
                session.pin(name, embedding[name])
        if own.lllites is not None:
            self._lllite_maps = own.lllites.inputs.of_maps(own.lllites.embedded(own.embeddings))
            pinned = {} if own.seen != own.size else self._lllite_maps
            for name, array in {**own.lllites.inputs.factors, **pinned}.items():
                sessions[0].pin(name, array)

    def residuals(self, given: ControlInputs) -> dict[str, Array]:
        """Return the sums of all acting layers' weighted residuals, by the denoiser's inputs.

        They are none where none acts: the denoiser then runs as without control. The inputs of
        ControlNet-LLLites are among them.
        """
        sums: dict[str, Array] = {}
        own = self._pass
        for place, layer in enumerate(own.layers):
            wanted = layer.layer
            at = given.evaluation, given.timestep
            is_within = own.lllites is not None and place in own.lllites.places
            acts = acts_at(wanted.range, own.rules.acting_steps, own.count, *at)
            if is_within or not wanted.weight or not acts:
                continue
            for name, residual in self._of_layer(place, given).items():
                sums[name] = sums[name] + residual if name in sums else residual
        return sums if own.lllites is None else sums | self._of_lllites(own.lllites, given)

    def _of_lllites(self, own: PassLllites, given: ControlInputs) -> dict[str, Array]:
        """Return the weights of ControlNet-LLLites, and a tile's part of their maps.

        Modes are no matter to them, as in sd-webui-controlnet: they lead all contexts alike.
        """
        whole, contexts = self._pass, len(given.texts["context"])
        weights: list[list[float]] = []
        for place in own.places:
            wanted, at = whole.layers[place].layer, (given.evaluation, given.timestep)
            acts = acts_at(wanted.range, whole.rules.acting_steps, whole.count, *at)
            weights.append([wanted.weight if acts else 0.0] * contexts)
        feeds = own.inputs.weights(weights)
        if given.tile is not None:
            for name, image in self._lllite_maps.items():
                planes = _part(image.transpose(0, 3, 1, 2), given, whole)
                feeds[name] = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        return feeds

    def _of_layer(self, place: int, given: ControlInputs) -> dict[str, Array]:
        layer, rules = self._pass.layers[place], self._pass.rules
        contexts = len(given.texts["context"])
        both = leads_negative(layer.layer, rules, means=layer.means)
        led = contexts if both else given.positives
        if layer.runs_each_step:
            # Only the positive rows are computed, where they are all that is led.
            made = self._made(place, given, led if len(given.sample) == 1 else contexts)
        else:
            images = self._pass.embeddings[place]
            made = {name: _part(image, given, self._pass) for name, image in images.items()}
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
            tile, cells = given.tile, self._pass.cells(given)
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


def _part(image: Array, given: ControlInputs, own: ControlPass) -> Array:
    """Return the part of an adapter's image for the tile that is seen; all of it without one."""
    if given.tile is None:
        return image
    cells, (height, width) = own.cells(given), given.tile.size
    scale = round(cells[0] / image.shape[2])
    top, left = given.tile.rows.start // scale, given.tile.columns.start // scale
    return image[:, :, top : top - (-height // scale), left : left - (-width // scale)]
