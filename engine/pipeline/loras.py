"""The LoRAs of a job's pictures: each file is read once, and each picture gets its own LoRAs."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from engine.api.lora import LoraChoice, LoraMode, LoraReport
from engine.api.record import ResolvedRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.lora_purpose import fit_lora, with_inputs_for
from engine.families.registry import FAMILIES
from engine.lora.file import LoraFile, read_lora
from engine.lora.folder import LoraLookup
from engine.lora.hashes import stated_tensors_hash
from engine.lora.layers import FittedLora
from engine.pipeline.bundled_embeddings import bundled_embeddings
from engine.pipeline.denoise.lora_stretches import PassLoras
from engine.pipeline.found_loras import NamedLora, find_loras
from engine.pipeline.lora_patches import ActingLora, LoraCombination, combination_of, pass_loras
from engine.pipeline.picture_loras import PictureLoras
from engine.text.lora_strengths import RunLength, described

# The most keys that a report and a warning name.
_MOST_NAMED = 8


# Returns True if a run should have side branches, instead of merged weights.
PrefersSide = Callable[[ResolvedRequest, RunLength, LoraCombination], bool]


def merges(_request: ResolvedRequest, _run: RunLength, _wanted: LoraCombination) -> bool:
    """Return False: merge."""
    return False


def with_inputs_for_all(
    choices: Sequence[LoraChoice],
    checkpoint: IdentifiedCheckpoint,
    lookup: LoraLookup,
    read: ReadIndex,
) -> IdentifiedCheckpoint:
    """Return a checkpoint with the inputs that LoRAs in a request's list need; mostly itself.

    Raises EngineError for a file that cannot be read.
    """
    for choice in choices:
        found = (
            lookup.find(choice.file, choice.hash) if choice.enabled and choice.strength else None
        )
        if found is not None:
            led = with_inputs_for(read_lora(read(found.path)), checkpoint)
            checkpoint = led or checkpoint
    return checkpoint


class JobLoras:
    """A `ReadLoras` for pictures of one job, on a checkpoint and the refiner of its run, if any."""

    def __init__(
        self,
        checkpoint: IdentifiedCheckpoint,
        lookup: LoraLookup,
        read: ReadIndex,
        prefers_side: PrefersSide = merges,
        remarks: tuple[ErrorInfo, ...] = (),
        *,
        refiner: IdentifiedCheckpoint | None = None,
        requires_fit: bool = True,
    ) -> None:
        """Look for files by `lookup`, and read their headers by `read`.

        `remarks` are warnings that are known already about the request's list. Without
        `requires_fit`, LoRAs for other models are left out with a warning.
        """
        self._requires_fit = requires_fit
        self._checkpoint, self._refiner = checkpoint, refiner
        self._lookup, self._read = lookup, read
        self._prefers_side, self._remarks = prefers_side, remarks
        self._files: dict[Path, LoraFile] = {}
        self._fitted: dict[tuple[Path, bool], FittedLora | None] = {}
        self._combinations: dict[tuple[NamedLora, ...], LoraCombination] = {}
        # What LoRAs do to the passes, and the changes among them that found no weight.
        self._made: dict[object, tuple[tuple[PassLoras, ...], tuple[ErrorInfo, ...]]] = {}

    def __call__(self, request: ResolvedRequest, run: RunLength) -> PictureLoras:
        """Return the LoRAs of a picture.

        A LoRA that is not found is a warning. Raises EngineError for a file that cannot be read or
        is for another family, and for a prompt that the convention's tool refuses.
        """
        rules = FAMILIES.named(self._checkpoint.family).prompt_rules(request.convention)
        as_read = msgspec.structs.replace(request, convention=rules)
        named, told = find_loras(as_read, run, self._lookup)
        warnings = [*self._remarks, *told]
        for lora in named:
            if lora.path is not None:
                warnings += self._misfits(lora.path)
        reports = tuple(self._reported(lora, warnings) for lora in named)
        acting = tuple(lora for lora in named if lora.acts)
        if not acting:
            return PictureLoras(warnings=tuple(dict.fromkeys(warnings)), reports=reports)
        mode = self._mode(acting, request, run)
        key = acting, mode, run
        if key not in self._made:
            lacking: list[ErrorInfo] = []
            passes = tuple(self._passes(acting, request, run, mode, lacking))
            self._made[key] = passes, tuple(lacking)
        passes, without_weight = self._made[key]
        files = (self._file(lora.path) for lora in acting if lora.path is not None)
        embeddings, problems = bundled_embeddings(files)
        unique = tuple(dict.fromkeys((*warnings, *without_weight, *problems)))
        return PictureLoras(key, passes, unique, reports, embeddings, mode)

    def _mode(
        self, named: tuple[NamedLora, ...], request: ResolvedRequest, run: RunLength
    ) -> LoraMode:
        if request.lora_mode is not LoraMode.AUTO:
            return request.lora_mode
        if named not in self._combinations:
            acting = self._acting(named, request, refines=False)
            self._combinations[named] = combination_of(acting, self._checkpoint)
        beside = self._prefers_side(request, run, self._combinations[named])
        return LoraMode.SIDE if beside else LoraMode.TEXT_SIDE

    def _file(self, path: Path) -> LoraFile:
        if path not in self._files:
            self._files[path] = read_lora(self._read(path))
        return self._files[path]

    def _fit(self, path: Path, refines: bool) -> FittedLora | None:
        """Return the fit of a file to the base or the refiner; None if it is for another model."""
        key = path, refines
        if key not in self._fitted:
            checkpoint = self._refiner if refines else self._checkpoint
            try:
                self._fitted[key] = fit_lora(self._file(path), checkpoint) if checkpoint else None
            except EngineError as error:
                if error.code is not ErrorCode.LORA_MISMATCH:
                    raise
                self._fitted[key] = None
        return self._fitted[key]

    def _misfits(self, path: Path) -> Iterator[ErrorInfo]:
        """Yield a warning about a file that is for neither base nor refiner, or raise it."""
        if self._fit(path, False) is None and self._fit(path, True) is None:
            try:
                fit_lora(self._file(path), self._checkpoint)
            except EngineError as error:
                if self._requires_fit:
                    raise
                yield error.info

    def _passes(
        self,
        named: tuple[NamedLora, ...],
        request: ResolvedRequest,
        run: RunLength,
        mode: LoraMode,
        lacking: list[ErrorInfo],
    ) -> Iterator[PassLoras]:
        """Yield the effect on the base's pass and on the refiner's; warn of lacking weights."""
        for checkpoint in (self._checkpoint, self._refiner):
            if checkpoint is None:
                continue
            acting = self._acting(named, request, refines=checkpoint is self._refiner)
            yield pass_loras(acting, checkpoint, mode, run.evaluations)
            lacking += (lacking_weights(lora) for lora in acting if lora.missing)
            lacking += (_measured_otherwise(lora) for lora in acting if lora.is_measured_otherwise)
            lacking += (_without_blocks(lora) for lora in acting if lora.misses_blocks(checkpoint))

    def _acting(
        self, named: tuple[NamedLora, ...], request: ResolvedRequest, *, refines: bool
    ) -> list[ActingLora]:
        """Return those of the LoRAs whose files are for the base, or for the refiner."""
        fits = (
            (self._fit(lora.path, refines), lora.use) for lora in named if lora.path is not None
        )
        return [
            ActingLora(fitted, use, request.convention.lora)
            for fitted, use in fits
            if fitted is not None
        ]

    def _reported(self, named: NamedLora, warnings: list[ErrorInfo]) -> LoraReport:
        """Return the report of a LoRA; warns of keys of its file that are not applied."""
        if named.path is None:
            return _report(named, None)
        fitted = self._fit(named.path, False) or self._fit(named.path, True)
        if fitted is not None and fitted.unused:
            warnings.append(unapplied(fitted))
        return _report(named, fitted)


def _report(named: NamedLora, fitted: FittedLora | None) -> LoraReport:
    use = named.use
    report = LoraReport(
        name=use.name,
        path=str(named.path) if named.path else None,
        strength=use.strengths[0],
        text_strength=use.text_strength,
        points=described(use.strengths),
        blocks=use.blocks.text if use.blocks else "",
    )
    if fitted is None:
        return report
    return msgspec.structs.replace(
        report,
        digest=fitted.file.digest,
        tensors_hash=stated_tensors_hash(fitted.file.index.metadata),
        applied_keys=fitted.applied,
        total_keys=fitted.file.total_keys,
        rest=fitted.unused[:_MOST_NAMED],
    )


def _measured_otherwise(lora: ActingLora) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.LORA_REMARK,
        sentence(
            "{path} is a DoRA that was trained by the lengths of outputs, and this "
            "convention's tool measures inputs.",
            path=lora.fitted.file.path.name,
        ),
        sentence(
            "The picture is that of the tool. By the convention of diffusers the "
            "LoRA acts as trained."
        ),
    )


def _without_blocks(lora: ActingLora) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.LORA_REMARK,
        sentence(
            "The weights by block of {path} are for another kind of model.",
            path=lora.fitted.file.path.name,
        ),
        sentence("The LoRA acts on all of this model's blocks alike."),
    )


def lacking_weights(lora: ActingLora) -> ErrorInfo:
    """Return the warning about changes of weights that the checkpoint lacks."""
    names = sorted(lora.missing)
    return ErrorInfo(
        ErrorCode.LORA_REMARK,
        sentence(
            "{path} changes {count} weights that this model lacks.",
            path=lora.fitted.file.path.name,
            count=len(names),
        ),
        sentence("These changes were left out."),
        ", ".join(names[:_MOST_NAMED]),
    )


def unapplied(fitted: FittedLora) -> ErrorInfo:
    """Return the warning about keys of a file that are not applied."""
    unused, file = fitted.unused, fitted.file
    named = ", ".join(ascii(key)[1:-1] for key in unused[:_MOST_NAMED])
    more = f" and {len(unused) - _MOST_NAMED} more" if len(unused) > _MOST_NAMED else ""
    return ErrorInfo(
        ErrorCode.LORA_REMARK,
        sentence(
            "{count} of the {total_keys} keys of {path} were not applied.",
            count=len(unused),
            total_keys=file.total_keys,
            path=file.path.name,
        ),
        sentence("This model has no such layers, or they are changed in a way that is not known."),
        f"{named}{more}",
    )
