"""Baking: a checkpoint with LoRAs in its weights, written in the layout of its base.

A single file becomes a single file. A diffusers folder becomes a folder: configurations, tokenizer
and whatever else it needs are copied, and the files of the denoiser and the text encoders written
anew. The result appears whole under its name, or not at all.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import msgspec

from backends.base import DType
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.bake.changes import Change, changes_of
from engine.bake.folder import files_beside
from engine.bake.layout import BaseFile, read_base
from engine.bake.place import publish, require_place, require_room
from engine.bake.recipe import Recipe
from engine.bake.record import Bake, BakedLora, checkpoint_metadata, part_metadata
from engine.bake.writing import copy_file, write_baked, writing_errors
from engine.cache_folder import delete, unfinished
from engine.checkpoints.full_hash import hash_file
from engine.checkpoints.known_files import KnownFiles
from engine.durable import sync_folder
from engine.families.checkpoint import Component
from engine.file_paths import is_folder
from engine.lora.hashes import hashes_of
from engine.pipeline.lora_patches import ActingLora
from engine.weights.sources import as_source

# Gets the bytes done and the bytes of the whole; may raise to stop.
Report = Callable[[int, int], None]

# The most bytes that metadata add to a header, beside the base's own.
_ADDED_BYTES = 1 << 16
_FLOAT8 = {DType.F8_E4M3, DType.F8_E5M2}


class Baked(msgspec.Struct, frozen=True):
    """A baked checkpoint: its place, the number of weights that were changed, and warnings."""

    path: Path
    changed_weights: int
    warnings: tuple[ErrorInfo, ...]


def bake(
    recipe: Recipe, target: Path, known: KnownFiles, report: Report, *, replace: bool = False
) -> Baked:
    """Write the checkpoint of a recipe to `target`, which must not exist unless `replace`.

    `known` reads headers and keeps the hashes of files. Raises EngineError; then, as after an
    interruption, nothing is left behind.
    """
    base = recipe.checkpoint.path
    sources = [lora.fitted.file.path for lora in recipe.loras]
    require_place(target, base, sources, replace=replace)
    changes = changes_of(recipe.checkpoint, recipe.patches)
    work = _Work(recipe, known, changes, report)
    require_room(target, work.size)
    part = unfinished(target)
    with writing_errors(target, part, work.size), ExitStack() as stack:
        stack.callback(delete, part)
        work.write(part)
        publish(part, target, replace=replace)
        sync_folder(target.parent)
    changed = sum(map(len, changes.values()))
    return Baked(target, changed, (*recipe.warnings, *_coarse(changes)))


class _Work:
    """The files of one bake, and how far it is."""

    def __init__(
        self,
        recipe: Recipe,
        known: KnownFiles,
        changes: Mapping[Path, tuple[Change, ...]],
        report: Report,
    ) -> None:
        self._recipe, self._known, self._changes, self._report = recipe, known, changes, report
        self._done = 0
        checkpoint = recipe.checkpoint
        self._folder = checkpoint.path if is_folder(checkpoint.path) else None
        weights = {component: _paths(recipe, component) for component in checkpoint.components}
        changing = {path for component in recipe.patches for path in weights.get(component, ())}
        read = {path for paths in weights.values() for path in paths}
        renewed = sorted(changing) if self._folder else [checkpoint.path]
        self._bases = [read_base(path, known.read_index) for path in renewed]
        self._copies = sorted(read - changing) if self._folder else []
        if self._folder:
            self._copies += files_beside(self._folder, read)

    @cached_property
    def size(self) -> int:
        """The bytes that the result takes."""
        copies = sum(path.stat().st_size for path in self._copies)
        return copies + sum(
            base.data_bytes + len(base.header(base.metadata)) + _ADDED_BYTES for base in self._bases
        )

    def write(self, part: Path) -> None:
        """Write the result to `part`. Raises EngineError and OSError."""
        unknown = [base for base in self._bases if self._known.sha256(base.state) is None]
        self._total = self.size + sum(base.state.size for base in unknown)
        loras = tuple(map(_described, self._recipe.loras))
        for base in self._bases:
            place = self._place(part, base.path)
            metadata = self._metadata(base, loras)
            write_baked(place, base, self._changes.get(base.path, ()), metadata, self._advance)
        for path in self._copies:
            copy_file(path, self._place(part, path), self._advance)

    def _place(self, part: Path, path: Path) -> Path:
        """Return the place of a base's file in the result, in a folder that is there."""
        if self._folder is None:
            return part
        place = part / path.relative_to(self._folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def _metadata(self, base: BaseFile, loras: tuple[BakedLora, ...]) -> dict[str, str]:
        checkpoint = self._recipe.checkpoint
        name = base.path.relative_to(checkpoint.path.parent).as_posix()
        bake = Bake(
            program=f"safelight {version('safelight')}",
            base=name,
            base_sha256=self._sha256(base),
            convention=self._recipe.convention.value,
            loras=loras,
        )
        if self._folder is not None:
            return part_metadata(base.metadata, bake)
        return checkpoint_metadata(base.metadata, bake, checkpoint, tuple(base.tensors))

    def _sha256(self, base: BaseFile) -> str:
        found = self._known.sha256(base.state)
        if found is not None:
            return found
        before = self._done

        def report(done: int) -> None:
            self._advance(before + done - self._done)

        found = hash_file(base.path, report).whole
        if self._known.is_settled(base.state) and base.state.is_of(base.path.stat()):
            self._known.note_sha256(base.state, found)
        return found

    def _advance(self, count: int) -> None:
        self._done += count
        self._report(self._done, self._total)


def _paths(recipe: Recipe, component: Component) -> set[Path]:
    """Return the files that a component is read from."""
    weights = recipe.checkpoint.components[component].weights.values()
    return {part.path for weight in weights for part in as_source(weight).parts()}


def _described(lora: ActingLora) -> BakedLora:
    hashes = hashes_of(lora.fitted.file.path)
    return BakedLora(
        name=lora.fitted.file.path.stem,
        sha256=hashes.whole,
        tensors_hash=hashes.tensors,
        strength=lora.strength(0),
        text_strength=lora.use.text_strength,
        applied_keys=lora.fitted.applied,
        total_keys=lora.fitted.file.total_keys,
    )


def _coarse(changes: Mapping[Path, tuple[Change, ...]]) -> tuple[ErrorInfo, ...]:
    """Return the warning that changes were rounded to fp8, if any were."""
    coarse = [change for own in changes.values() for change in own if change.place.dtype in _FLOAT8]
    if not coarse:
        return ()
    return (
        ErrorInfo(
            ErrorCode.LORA_REMARK,
            sentence(
                "{count} of the changed weights are stored as fp8, whose steps are so "
                "wide that part of what the LoRAs change is lost.",
                count=len(coarse),
            ),
            sentence(
                "For the same picture as with the LoRAs, bake into the fp16 version of the model."
            ),
        ),
    )
