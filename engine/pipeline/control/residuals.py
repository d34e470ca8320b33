"""Residuals of control networks at the evaluations of a denoiser."""

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
import numpy as np

from backends.base import Array, Feed, Feeds, Session
from engine.api.control import ControlLayer
from engine.compile.network import Network
from engine.control.adapter_files import image_places
from engine.control.network import ControlForm
from engine.control.residuals import before, mask_inputs, residual_inputs
from engine.pipeline.control.lllites import PassLllites
from engine.pipeline.control.running import ControlPass
from engine.pipeline.control.strengths import leads_negative, residual_weights
from engine.pipeline.denoise.tiles import Tile
from engine.pipeline.stages import Stages
from engine.preprocessors.opencv.resizing import resize_linear
from engine.weights.side_branches import STRENGTHS, pin_branches


class ControlInputs(msgspec.Struct, frozen=True):
    """The inputs of a denoiser at an evaluation, without concatenated channels.

    `sample` is [batch, channels, height, width]; `texts` are the inputs of the prompts, the first
    `positives` of whose contexts are the positive ones, and the same object while they stay. `rows`
    has the context of each row that the denoiser evaluates. `tile` is the part of the latents that
    is seen; None: all. `strengths` are those of LoRAs beside the denoiser's layers, if it has some.
    """

    evaluation: int
    sigma: float
    sample: Array
    texts: Mapping[str, Array]
    positives: int
    rows: tuple[int, ...]
    level: Mapping[str, Array]
    tile: Tile | None
    strengths: Array | None


class _LoadedLayer(msgspec.Struct, eq=False):
    """A layer's network, loaded, with what is pinned: contexts of texts, and rows.

    `kept` are its inputs that are the same at all evaluations.
    """

    session: Session
    kept: Mapping[str, Array] = msgspec.field(default_factory=dict[str, Array])
    texts: Mapping[str, Array] | None = None
    computed: int = 0
    rows: tuple[int, ...] = ()

    @property
    def takes(self) -> set[str]:
        """The names of the network's inputs."""
        return {spec.name for spec in self.session.inputs}

    def pin_kept(self) -> None:
        """Pin what is the same at all evaluations; texts and rows are to be pinned, too."""
        for name in self.kept.keys() & self.takes:
            self.session.pin(name, self.kept[name])
        self.texts, self.rows = None, ()

    def pin_texts(self, texts: Mapping[str, Array], computed: int) -> None:
        """Pin the first contexts of texts, unless they are."""
        if self.texts is texts and self.computed == computed:
            return
        for name in texts.keys() & self.takes:
            self.session.pin(name, texts[name][:computed])
        self.texts, self.computed = texts, computed
        self.rows = ()


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
        places = [place for place, layer in enumerate(self._leaders) if not layer.is_within]
        distinct = [place for place in places if own.first_alike(place) == place]
        firsts = dict(zip(distinct, sessions[1:], strict=True))
        self._loaded = {place: _LoadedLayer(firsts[own.first_alike(place)]) for place in places}
        # The layer whose inputs are pinned in a session, by the first layer that has the session.
        self._pinned: dict[int, int] = {}
        self._denoiser = sessions[0]
        self._taken = {spec.name for spec in sessions[0].inputs}
        self._tile: Tile | None = None
        self._lllite_maps: dict[str, Array] = {}
        for network, session in zip(networks[1:], sessions[1:], strict=True):
            pin_branches(session, network.branches)
        for place, loaded in self._loaded.items():
            loaded.kept = {**own.of_maps(place, None), **self._masks(place, None)}
        if own.lllites is not None:
            self._lllite_maps = own.lllites.inputs.of_maps(own.lllites.embedded(own.embeddings))
            pinned = {} if own.evaluated_size != own.size else self._lllite_maps
            for name, array in {**own.lllites.inputs.factors, **pinned}.items():
                self._denoiser.pin(name, array)

    def residuals(self, given: ControlInputs) -> Feeds:
        """Return the sums of all acting layers' weighted residuals, by the denoiser's inputs.

        They stay on the device. They are none where none acts: the denoiser then runs as without
        control. A last one may have no block of the denoiser. The weights of ControlNet-LLLites are
        among them.
        """
        sums: dict[str, Feed] = {}
        for place in self._loaded:
            wanted = self._leaders[place].layer
            if wanted.weight and self._acts(wanted, given):
                sums |= self._of_layer(place, given, sums)
        sums = {name: array for name, array in sums.items() if name in self._taken}
        lllites = self._pass.lllites
        return sums if lllites is None else sums | self._of_lllites(lllites, given)

    def _acts(self, wanted: ControlLayer, given: ControlInputs) -> bool:
        return self._pass.acting.acts(wanted.range, given.evaluation, given.sigma)

    def _of_lllites(self, own: PassLllites, given: ControlInputs) -> dict[str, Array]:
        """Return the weights of ControlNet-LLLites; pin what they see of their maps in a tile.

        Modes are no matter to them, as in sd-webui-controlnet: they lead all contexts alike.
        """
        if given.tile is not None and given.tile is not self._tile:
            for name, image in self._lllite_maps.items():
                part = self._pass.part(image.transpose(0, 3, 1, 2), given.tile)
                self._denoiser.pin(name, np.ascontiguousarray(part.transpose(0, 2, 3, 1)))
            self._tile = given.tile
        weights: list[list[float]] = []
        for place in own.places:
            wanted = self._leaders[place].layer
            weight = wanted.weight if self._acts(wanted, given) else 0.0
            weights.append([weight] * len(given.rows))
        return own.inputs.weights(weights)

    def _of_layer(
        self, place: int, given: ControlInputs, sums: Mapping[str, Feed]
    ) -> Mapping[str, Feed]:
        """Return a layer's residuals, added to those of the same names in `sums`."""
        loaded, layer = self._loaded[place], self._leaders[place]
        self._pin(place, given)
        feeds: dict[str, Feed] = {"sample": given.sample, **given.level}
        if given.strengths is not None:
            feeds[STRENGTHS] = given.strengths
        if given.tile is not None:
            feeds |= self._pass.of_maps(place, given.tile)
            feeds |= self._masks(place, given.tile) if layer.acts_in_part else {}
        names = [spec.name for spec in loaded.session.outputs]
        feeds |= {before(name): sums[name] for name in names if name in sums}
        taken = {name: feeds[name] for name in feeds.keys() & loaded.takes}
        return self._stages.call_on_device(loaded.session, taken)

    def _pin(self, place: int, given: ControlInputs) -> None:
        """Pin the texts that a layer's network sees, and the weights of the denoiser's rows."""
        loaded, layer, rules = self._loaded[place], self._leaders[place], self._pass.rules
        network = layer.network
        first = self._pass.first_alike(place)
        if self._pinned.get(first) != place:
            loaded.pin_kept()
            self._pinned[first] = place
        contexts = len(given.texts["context"])
        both = leads_negative(layer.layer, rules, means=layer.means)
        led = contexts if both else given.positives
        alone = self._pass.models[place].sees_prompt_alone(rules)
        # Only the positive rows are computed, where they are all that is led.
        computed = led if len(given.sample) == 1 else contexts
        loaded.pin_texts(given.texts, given.positives if alone else computed)
        if loaded.rows == given.rows:
            return
        count = len(loaded.session.outputs)
        adapts = image_places(network.family) if network.form is ControlForm.ADAPTER else None
        own = residual_weights(
            layer.layer,
            rules,
            count,
            means=layer.means,
            adapts=adapts,
            enlarged=self._pass.enlarges,
        )
        weights = [own if row < led else (0.0,) * count for row in given.rows]
        # An adapter's images are the same for all contexts.
        seen = [row if row < led and adapts is None else 0 for row in given.rows]
        if alone:
            seen = [min(row, given.positives - 1) for row in seen]
        for name, array in residual_inputs(seen, np.asarray(weights, np.float32)).items():
            loaded.session.pin(name, array)
        loaded.rows = given.rows

    def _masks(self, place: int, tile: Tile | None) -> dict[str, Array]:
        """Return where a layer acts in what the denoiser sees, at each size of its residuals."""
        own = self._pass
        mask = own.area(place)
        if mask is not None and tile is not None:
            mask = _shown(mask, own.cells, tile)
        inputs = self._loaded[place].session.inputs
        if mask is None:
            return mask_inputs(inputs, own.evaluated_cells(place))
        return mask_inputs(inputs, own.evaluated_cells(place), partial(area_at, mask))


def _shown(mask: Array, cells: tuple[int, int], tile: Tile) -> Array:
    """Return the part of a mask [height, width, 1] of the whole latents that a tile shows."""
    down, across = mask.shape[0] / cells[0], mask.shape[1] / cells[1]
    top, bottom = (round(end * down) for end in (tile.rows.start, tile.rows.stop))
    left, right = (round(end * across) for end in (tile.columns.start, tile.columns.stop))
    # A mask of fewer pixels than tiles still has one for each.
    top, left = min(top, mask.shape[0] - 1), min(left, mask.shape[1] - 1)
    return mask[top : max(bottom, top + 1), left : max(right, left + 1)]


def area_at(mask: Array, height: int, width: int) -> Array:
    """Return a mask [rows, columns, 1] at the size of residuals, float32 [height, width].

    Interpolated without antialiasing: `apply_effective_region_mask`, and `prepare_mask_batch` of
    Advanced-ControlNet.
    """
    return resize_linear(mask, width, height)[:, :, 0]
