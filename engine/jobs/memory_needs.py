"""The memory needs of a job on a device: the bytes of its networks' weights, and of their runs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import msgspec

from backends.base import Precision
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.memory.component_bytes import ComponentBytes, total_bytes
from engine.memory.plan import TILE_CELLS, LaterDenoiser, MemoryNeeds
from engine.pipeline.control.running import ControlPass, control_pass
from engine.pipeline.enlarge.enlarging import encoded_size, enlarging_bytes
from engine.pipeline.picture_plan import vae_of_pass
from engine.pipeline.place import precisions
from engine.pipeline.read_job import ReadJob, texts_in
from engine.pipeline.vae.networks import vae_networks
from engine.weights.weight_set import WeightSet


def memory_needs(read: ReadJob, compiler: Compiler, *, preview_bytes: int = 0) -> MemoryNeeds:
    """Return the needs of a job whose networks the compiler prepares, in bytes.

    `preview_bytes` are those of its previews. Raises EngineError(REQUEST_INVALID) where the device
    does not offer the precision that the job asks for.
    """
    offered = precisions(read.job.request.precision, compiler.device)
    return _JobSizes(read, compiler, offered).needs(preview_bytes)


def _each_once(checkpoints: Iterable[IdentifiedCheckpoint]) -> list[IdentifiedCheckpoint]:
    return list({id(checkpoint): checkpoint for checkpoint in checkpoints}.values())


def _longest_tile(checkpoint: IdentifiedCheckpoint, wanted: int | None) -> int:
    """Return the longest side in pixels of a VAE's tiles: the wanted one, or the usual one."""
    return wanted or TILE_CELLS * checkpoint.latent.downscale


class _Step(msgspec.Struct, frozen=True, eq=False):
    """The networks of a step: control networks, a reference's run, and the denoiser."""

    controls: tuple[Network, ...]
    reference: tuple[Network, ...]
    denoiser: Network

    @property
    def networks(self) -> tuple[Network, ...]:
        """All of them, as they run."""
        return *self.controls, *self.reference, self.denoiser


@dataclass(frozen=True, eq=False)
class _JobSizes:
    """The sizes of a job's networks on a device; `precisions` are those to try, in order."""

    read: ReadJob
    compiler: Compiler
    precisions: tuple[Precision, ...]

    def needs(self, preview_bytes: int) -> MemoryNeeds:
        """Return the memory needs of the job."""
        read, tile = self.read, self.read.job.request.vae_tile
        own, drawing = read.job.checkpoints.first, self._drawing
        texts, pictured = self._text_encoders(), self._picture_encoders()
        first, *later = self._denoisers()
        return MemoryNeeds(
            denoiser=first.weights,
            vae=total_bytes(tuple(map(self._vae_weights, drawing))),
            text_encoder=total_bytes(texts),
            largest_text=max(texts, key=lambda encoder: encoder.packed),
            later=tuple(later),
            step_bytes=first.step_bytes,
            vae_run_bytes=max(self._vae_run(pass_, None) for pass_ in drawing),
            vae_tile_bytes=max(
                self._vae_run(pass_, _longest_tile(pass_, tile)) for pass_ in drawing
            ),
            tiles=tile is not None,
            enlarging_bytes=max(map(enlarging_bytes, read.second_runs, read.upscalers), default=0),
            preview_bytes=preview_bytes,
            controls=self._control_networks(own),
            reference=self._reference(own),
            picture_encoders=tuple(map(self._used, pictured)),
            shares_runs=self.compiler.shares_runs,
            text_run_bytes=self._runs(self._text_networks()),
            picture_run_bytes=self._runs(pictured),
        )

    @property
    def _checkpoints(self) -> list[IdentifiedCheckpoint]:
        """The checkpoints of the passes, each once, in the order of the passes."""
        return _each_once(pass_.checkpoint for pass_ in self.read.passes)

    @property
    def _drawing(self) -> list[IdentifiedCheckpoint]:
        """The checkpoints of the runs, each once; a refiner has no VAE of its own."""
        return _each_once(self.read.job.checkpoints.runs)

    def _places(self, checkpoint: IdentifiedCheckpoint) -> list[int]:
        """Return the places of a checkpoint's passes."""
        passes = enumerate(self.read.passes)
        return [place for place, pass_ in passes if pass_.checkpoint is checkpoint]

    def _with_loras(self, checkpoint: IdentifiedCheckpoint) -> list[IdentifiedCheckpoint]:
        """Return a checkpoint with the LoRAs of each of its passes, of each group of pictures."""
        groups, places = self.read.passes_with_loras, self._places(checkpoint)
        return [passes[place].checkpoint for passes in groups for place in places]

    def _text_encoders(self) -> list[ComponentBytes]:
        return [
            self._components(self._with_loras(checkpoint), (component,), self.precisions[0])
            for checkpoint in self._checkpoints
            for component in checkpoint.architecture.text.components
        ]

    def _text_networks(self) -> list[Network]:
        """Return the networks that encode texts, each once."""
        every = (network for text in self.read.first.texts for network in text.networks)
        return list({id(network): network for network in every}.values())

    def _picture_encoders(self) -> list[Network]:
        """Return the networks that encode image prompts and embed maps, each once."""
        embedding = {id(network): network for network in self._embedding_networks if network}
        return [*self.read.job.image_prompts.networks, *embedding.values()]

    def _denoisers(self) -> list[LaterDenoiser]:
        """Return the denoiser of each checkpoint and its steps, in the order of the passes.

        Those of later checkpoints have what runs at their steps with them.
        """
        found: list[LaterDenoiser] = []
        for checkpoint in self._checkpoints:
            variants = self._with_loras(checkpoint)
            network = next(self._steps(checkpoint)).denoiser
            denoiser, precision = (Component.DENOISER,), self.precisions[0]
            weights = [self._components(variants, denoiser, precision, network)]
            if found:
                reference = self._reference(checkpoint)
                controls = self._control_networks(checkpoint)
                weights += (*controls, *([reference] if reference else ()))
            found.append(LaterDenoiser(total_bytes(weights), self._step(checkpoint)))
        return found

    def _vae_weights(self, checkpoint: IdentifiedCheckpoint) -> ComponentBytes:
        precision = checkpoint.architecture.autoencoder.decoder().precisions(self.precisions)[0]
        return self._components(self._with_loras(checkpoint), (Component.VAE,), precision)

    def _vae_run(self, checkpoint: IdentifiedCheckpoint, tile: int | None) -> int:
        """Return the most bytes that a run of a checkpoint's VAE takes beside its weights.

        That is with the largest picture that it decodes or encodes, in tiles of at most `tile`
        pixels a side, if that is given.
        """
        read, runs = self.read, self.read.job.checkpoints.runs
        own = (pass_ for pass_ in read.passes if runs[pass_.run] is checkpoint)
        decoded = [(pass_.request.height, pass_.request.width) for pass_ in own]
        layers = read.controls
        follows = layers.reference or layers.own_map or None in self._embedding_networks
        encoded = [*decoded] if read.to_encode.count > 0 or follows else []
        encoded += [encoded_size(run) for run in read.second_runs if run.checkpoint is checkpoint]
        if checkpoint is runs[0]:
            encoded += [
                (picture.shape[2], picture.shape[3]) for picture in read.references.pictures
            ]
        networks: list[Network] = []
        for sizes, is_decoded in ((decoded, True), (encoded, False)):
            if sizes:
                largest = max(sizes, key=math.prod)
                vae = vae_networks(checkpoint, largest, tile)
                runs = vae.decoding() if is_decoded else vae.encoding(1)
                networks += (run.network for run in runs if run.network)
        return max(self._runs((network,)) for network in networks)

    def _step(self, checkpoint: IdentifiedCheckpoint) -> int:
        """Return the most bytes that a step of a checkpoint's denoiser takes beside weights.

        That is with the networks that run before it.
        """
        every = (step.networks for step in self._steps(checkpoint))
        return max(
            map(self._runs, {tuple(map(id, networks)): networks for networks in every}.values())
        )

    def _steps(self, checkpoint: IdentifiedCheckpoint) -> Iterator[_Step]:
        """Yield the steps of a checkpoint's denoiser."""
        first = self.read.first
        for place in self._places(checkpoint):
            pass_, text, control = first.passes[place], first.texts[place], self._controls[place]
            for picture in first.pictures:
                texts = texts_in(pass_, picture)
                network, writing = pass_.network(text, texts), pass_.writing_network(text, texts)
                controls = control.networks(network) if control else ()
                yield _Step(controls, (writing,) if writing else (), network)

    def _runs(self, networks: Sequence[Network]) -> int:
        """Return the bytes that runs take beside weights, one after the other, with all loaded."""
        precise = ((network, network.precisions(self.precisions)[0]) for network in networks)
        return self.compiler.runs_bytes(tuple(precise))

    @cached_property
    def _controls(self) -> tuple[ControlPass | None, ...]:
        """The control layers of each pass."""
        read, tile = self.read, self.read.job.request.vae_tile
        return tuple(
            control_pass(read.controls, pass_, vae_of_pass(read, pass_, tile))
            for pass_ in read.passes
        )

    @cached_property
    def _embedding_networks(self) -> tuple[Network | None, ...]:
        """The networks that embed the maps of all passes; None where the VAE encodes them."""
        controls = (control for control in self._controls if control)
        return tuple(chain.from_iterable(control.embedding_networks for control in controls))

    def _control_networks(self, checkpoint: IdentifiedCheckpoint) -> tuple[ComponentBytes, ...]:
        """Return the weights of each network that runs before a denoiser at its steps."""
        controls = next(self._steps(checkpoint)).controls
        return tuple(self._used(network) for network in controls if network.weights)

    def _reference(self, checkpoint: IdentifiedCheckpoint) -> ComponentBytes | None:
        """Return the weights of the run of a reference beside a denoiser; None for none."""
        twins = (self.read.passes[place].writing for place in self._places(checkpoint))
        denoiser, precision = (Component.DENOISER,), self.precisions[0]
        found = [self._components([twin], denoiser, precision) for twin in twins if twin]
        return max(found, key=lambda weights: weights.packed + weights.patched, default=None)

    def _used(self, network: Network) -> ComponentBytes:
        """Return the weights that the graph of a network uses that is no component."""
        precision = network.precisions(self.precisions)[0]
        return self._weights(self.compiler.used_weights(network, precision), precision)

    def _weights(
        self, weights: WeightSet, precision: Precision, network: Network | None = None
    ) -> ComponentBytes:
        """Return the bytes of a set of weights without patches; `network` is the one that has it.

        Without that, a working copy of any runtime counts.
        """
        compiler = self.compiler
        converted = compiler.converted_bytes(weights, precision)
        has_copy = converted > 0 and compiler.has_copy(weights, precision)
        if has_copy and network is not None:
            has_copy = compiler.holds_copy(network, precision)
        return ComponentBytes(
            compiler.packed_bytes(weights, precision),
            converted,
            mapped=converted if has_copy else 0,
            repacks=compiler.repacks(weights, precision),
            in_place=compiler.in_place_bytes(weights, precision),
            bound=compiler.bound_bytes(weights, precision),
            looked_up=compiler.looked_up_bytes(weights, precision),
            unwritten=compiler.unwritten_bytes(weights, precision),
            copied=compiler.copied_bytes(weights, precision),
        )

    def _components(
        self,
        variants: Sequence[IdentifiedCheckpoint],
        components: tuple[Component, ...],
        precision: Precision,
        network: Network | None = None,
    ) -> ComponentBytes:
        """Return the weights of some components, all loaded at once.

        `variants` are a checkpoint with the LoRAs of different pictures: those that take most
        count. `network` is that of a single component.
        """
        compiler, found = self.compiler, list[ComponentBytes]()
        for component in components:
            weights = variants[0].weights_of(component)
            every = [
                variant.patches[component] for variant in variants if component in variant.patches
            ]
            merged = (
                compiler.patched_bytes(weights, patches.merged, precision) + patches.branch_bytes
                for patches in every
            )
            found.append(
                msgspec.structs.replace(
                    self._weights(weights, precision, network),
                    patched=max(merged, default=0),
                    branches=max((patches.branch_bytes for patches in every), default=0),
                )
            )
        return total_bytes(found)
