"""The effect of LoRAs on one checkpoint: patched weights, side branches, stretches of the run."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

import msgspec

from engine.api.lora import LoraMode
from engine.api.lora_rules import LoraRules
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.index import combined_digest
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.patches import ComponentPatches
from engine.lora.layers import FittedLora, Target
from engine.lora.patches import is_measured_otherwise, patches_of
from engine.lora.placed import placed
from engine.pipeline.denoise.lora_stretches import PassLoras, Stretch
from engine.text.lora_tags import LoraUse
from engine.weights.patched import LowRankDifference, Patch, fits
from engine.weights.side_branches import SideBranches
from engine.weights.sources import as_source

_DENOISER, _TEXT_SIDE = Component.DENOISER, LoraMode.TEXT_SIDE


class LoraCombination(msgspec.Struct, frozen=True, eq=False):
    """The LoRAs that act on a checkpoint's denoiser, with their strengths.

    `key` identifies checkpoint, LoRAs and strengths. `branches` are all of the changes as side
    branches; None where some cannot be.
    """

    key: str
    checkpoint: IdentifiedCheckpoint
    branches: SideBranches | None


class ActingLora(msgspec.Struct, frozen=True, eq=False):
    """A LoRA whose file fits a checkpoint, its strengths, and the rules of its arithmetic.

    `missing` collects the names of weights that it would change and the checkpoint lacks.
    """

    fitted: FittedLora
    use: LoraUse
    rules: LoraRules
    missing: set[str] = msgspec.field(default_factory=set[str])

    def strength(self, evaluation: int) -> float:
        """Return the denoiser's strength at an evaluation; past the last one, the last one's."""
        return self.use.strengths[min(evaluation, len(self.use.strengths) - 1)]

    @property
    def is_measured_otherwise(self) -> bool:
        """True if the rules measure a layer of the file otherwise than its trainer did."""
        modules = (fitted.module for fitted in self.fitted.modules)
        return any(is_measured_otherwise(module, self.rules) for module in modules)

    @property
    def digest(self) -> str:
        """The digest of the file's content."""
        return self.fitted.file.digest

    def changes(
        self, checkpoint: IdentifiedCheckpoint, component: Component, strength: float
    ) -> dict[str, list[Patch]]:
        """Return the changes to a component's weights, by name. Raises EngineError."""
        found: dict[str, list[Patch]] = {}
        weights = checkpoint.components[component].weights
        fused = _fused(self.fitted)
        for fitted in self.fitted.modules:
            target = fitted.target
            if target.component != component.value:
                continue
            own = strength * self._factor(checkpoint, target)
            patches = patches_of(
                fitted.module, own, self.rules, shape=fitted.shape, rank=self.use.rank
            )
            for part, patch in patches.items():
                name = target.name(part)
                if name not in weights:
                    self.missing.add(name)
                    continue
                members = [
                    (member.part, as_source(weights[own_name]))
                    for member in fused.get(fitted.module.layer, ())
                    if member.part is not None and (own_name := member.name(part)) in weights
                ]
                fitting = placed(patch, target, weights[name].shape, members)
                if not fits(fitting, weights[name].shape):
                    raise _misfit(self.fitted.file.path.name, name)
                found.setdefault(name, []).append(fitting)
        return found

    def misses_blocks(self, checkpoint: IdentifiedCheckpoint) -> bool:
        """Return True if the tag has weights by block for a model with other blocks."""
        blocks = self.use.blocks
        if blocks is None or not blocks.changes_blocks:
            return False
        targets = (fitted.target for fitted in self.fitted.modules)
        block_of = checkpoint.architecture.lora_block
        return all(
            block_of(target.component, target.layer) not in blocks.blocks for target in targets
        )

    def _factor(self, checkpoint: IdentifiedCheckpoint, target: Target) -> float:
        if self.use.blocks is None:
            return 1.0
        architecture, place = checkpoint.architecture, (target.component, target.layer)
        return self.use.blocks.factor(
            architecture.lora_block(*place), architecture.lora_element(*place)
        )


def _fused(fitted: FittedLora) -> dict[str, list[Target]]:
    """Return the targets of each layer that holds several weights, by the file's name for it."""
    found: dict[str, list[Target]] = {}
    for module in fitted.modules:
        if module.target.part is not None:
            found.setdefault(module.module.layer, []).append(module.target)
    return found


def _misfit(file: str, name: str) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "The LoRA {file} does not work: its change of {name} is of another size.",
            file=file,
            name=name,
        ),
        sentence("It may be for other checkpoints, or it is damaged."),
    )


def combination_of(
    loras: Sequence[ActingLora], checkpoint: IdentifiedCheckpoint
) -> LoraCombination:
    """Return those of the LoRAs that act on the checkpoint's denoiser. Raises EngineError."""
    acting = [lora for lora in loras if any(lora.use.strengths)]
    told = [
        (lora.digest, lora.use.strengths, lora.use.blocks, lora.use.rank, lora.rules)
        for lora in acting
    ]
    key = sha256(repr((checkpoint.digest, told)).encode()).hexdigest()
    low = bool(acting) and all(is_low_rank(lora, checkpoint, _DENOISER) for lora in acting)
    branches = side_branches(acting, checkpoint, _DENOISER) if low else None
    return LoraCombination(key, checkpoint, branches)


def pass_loras(
    loras: Sequence[ActingLora], checkpoint: IdentifiedCheckpoint, mode: LoraMode, evaluations: int
) -> PassLoras:
    """Return the effect of LoRAs on a pass of a checkpoint that takes this many evaluations.

    `mode` is not AUTO. Where it is not MERGE, LoRAs that have only low-rank products are side
    branches of the text encoders, and of the denoiser where it is SIDE or their strengths change;
    what they change in biases and norms is merged. The other LoRAs are merged, for each stretch of
    the run in which their strengths stay the same. Raises EngineError.
    """
    texts = {
        component: _text_patches(loras, checkpoint, component, mode)
        for component in checkpoint.architecture.text.components
    }
    beside, changing, constant = _sorted(loras, checkpoint, mode)
    branches = side_branches(beside, checkpoint, _DENOISER) if beside else None
    strengths = tuple(tuple(lora.use.strengths) for lora in beside)

    def strengths_at(evaluation: int) -> tuple[float, ...]:
        return tuple(each[min(evaluation, len(each) - 1)] for each in strengths)

    merged = constant + changing
    stretches: list[Stretch] = []
    before: tuple[float, ...] | None = None
    for evaluation in range(max(evaluations, 1) if changing else 1):
        present = tuple(lora.strength(evaluation) for lora in merged)
        if present == before:
            continue
        before = present
        own = _component_patches(
            list(zip(merged, present, strict=True)),
            [(lora, lora.strength(0)) for lora in beside],
            checkpoint,
            _DENOISER,
            branches,
        )
        stretches.append(Stretch(evaluation, {**texts, _DENOISER: own}))
    return PassLoras(tuple(stretches), strengths_at if beside else None)


def _sorted(
    loras: Sequence[ActingLora], checkpoint: IdentifiedCheckpoint, mode: LoraMode
) -> tuple[list[ActingLora], list[ActingLora], list[ActingLora]]:
    """Return LoRAs beside the denoiser, then those merged anew in a run, then those merged once.

    The order within each is that of the request.
    """
    beside: list[ActingLora] = []
    changing: list[ActingLora] = []
    constant: list[ActingLora] = []
    for lora in loras:
        wanted = mode is LoraMode.SIDE or (mode is _TEXT_SIDE and not lora.use.is_constant)
        if wanted and any(lora.use.strengths) and is_low_rank(lora, checkpoint, _DENOISER):
            beside.append(lora)
        elif lora.use.is_constant:
            constant.append(lora)
        else:
            changing.append(lora)
    return beside, changing, constant


def is_low_rank(lora: ActingLora, checkpoint: IdentifiedCheckpoint, component: Component) -> bool:
    """Return True if a LoRA's changes to a component's matrices, if any, can be side branches.

    Those of biases and norms are merged beside them, which needs strengths that stay the same.
    """
    tables = {
        fitted.target.name("weight") for fitted in lora.fitted.modules if fitted.target.is_table
    }
    matrices, vectors = _parted(lora, checkpoint, component, 1.0)
    return (
        all(
            len(patches) == 1
            and isinstance(patches[0], LowRankDifference)
            and name.endswith(".weight")
            and name not in tables
            for name, patches in matrices.items()
        )
        and bool(matrices)
        and (not vectors or lora.use.is_constant)
    )


def _parted(
    lora: ActingLora, checkpoint: IdentifiedCheckpoint, component: Component, strength: float
) -> tuple[dict[str, list[Patch]], dict[str, list[Patch]]]:
    """Return the changes to a component's matrices and kernels, and those to its vectors."""
    weights = checkpoint.components[component].weights
    changes = lora.changes(checkpoint, component, strength)
    wide = {name: patches for name, patches in changes.items() if len(weights[name].shape) > 1}
    return wide, {name: patches for name, patches in changes.items() if name not in wide}


def side_branches(
    loras: Sequence[ActingLora], checkpoint: IdentifiedCheckpoint, component: Component
) -> SideBranches:
    """Return LoRAs of low-rank products as side branches of a component."""
    layers: dict[str, list[tuple[int, LowRankDifference]]] = {}
    ranks: list[int] = []
    for number, lora in enumerate(loras):
        products = dict(_products(lora, checkpoint, component))
        ranks.append(max(product.down.shape[0] for product in products.values()))
        for layer, product in products.items():
            layers.setdefault(layer, []).append((number, product))
    return SideBranches({layer: tuple(parts) for layer, parts in layers.items()}, tuple(ranks))


def _products(
    lora: ActingLora, checkpoint: IdentifiedCheckpoint, component: Component
) -> Iterator[tuple[str, LowRankDifference]]:
    for name, (patch,) in _parted(lora, checkpoint, component, 1.0)[0].items():
        assert isinstance(patch, LowRankDifference), "the LoRA is of low rank"
        yield name.removesuffix(".weight"), patch


def _text_patches(
    loras: Sequence[ActingLora],
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    mode: LoraMode,
) -> ComponentPatches:
    acting = [lora for lora in loras if lora.use.text_strength]
    beside = [
        lora
        for lora in acting
        if mode is not LoraMode.MERGE and is_low_rank(lora, checkpoint, component)
    ]
    merged = [(lora, lora.use.text_strength) for lora in acting if lora not in beside]
    return _component_patches(
        merged,
        [(lora, lora.use.text_strength) for lora in beside],
        checkpoint,
        component,
        side_branches(beside, checkpoint, component) if beside else None,
        tuple(lora.use.text_strength for lora in beside),
    )


def _component_patches(
    loras: Sequence[tuple[ActingLora, float]],
    beside: Sequence[tuple[ActingLora, float]],
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    branches: SideBranches | None = None,
    strengths: tuple[float, ...] = (),
) -> ComponentPatches:
    """Return the changes of LoRAs at these strengths; LoRAs of strength 0 make none.

    Of those `beside` the network only vectors are merged.
    """
    changes: dict[str, list[Patch]] = {}
    digests: list[str] = []
    for lora, strength in (*loras, *beside):
        own: Mapping[str, list[Patch]] = {}
        if strength:
            wide, vectors = _parted(lora, checkpoint, component, strength)
            own = vectors if (lora, strength) in beside else wide | vectors
        for name, patches in own.items():
            changes.setdefault(name, []).extend(patches)
        if own:
            digests.append(lora.digest)
    merged = {name: tuple(patches) for name, patches in changes.items()}
    return ComponentPatches(combined_digest(*digests), merged, branches, strengths)
