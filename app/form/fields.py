"""The values of the form, stated once: each tells when it changes, together they are a `Form`."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field, fields_of
from app.library.checkpoint_words import NO_WORDS, CheckpointWords
from engine.api.conventions import Convention
from engine.api.masks import MaskOptions
from engine.api.request import (
    ComponentFiles,
    GuidanceOptions,
    InputImage,
    RefinerChoice,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
    SizeOptions,
)
from engine.api.values import ConventionName, PrecisionName, SamplerName, ScheduleName

STARTER_PROMPT = "a red house by the sea at night"


class Extras(msgspec.Struct, frozen=True, kw_only=True):
    """What a loaded request holds beyond the form; it stays in force until it is dropped.

    Fields are named as in `GenerateRequest`.
    """

    components: ComponentFiles = ComponentFiles()
    clip_skip: int | None = None
    sampler_options: SamplerOptions = SamplerOptions()
    schedule_options: ScheduleOptions = ScheduleOptions()
    seed_options: SeedOptions = SeedOptions()
    guidance_options: GuidanceOptions = GuidanceOptions()
    size_options: SizeOptions = SizeOptions()
    mask_options: MaskOptions = MaskOptions()
    vae_tile: int | None = None
    zero_terminal_snr: bool | None = None
    expand_wildcards: bool = True
    backend: str = "auto"
    precision: PrecisionName = PrecisionName.AUTO
    memory_limit_bytes: int | None = None


NO_EXTRAS = Extras()


class FormFields(QObject):
    """What the user edits. None in a choice means that the checkpoint decides.

    Ranges are those of `engine.api.limits`; the engine refuses what is outside them.
    """

    prompt_changed = Signal(str)
    negative_prompt_changed = Signal(str)
    checkpoint_changed = Signal(object)
    words_changed = Signal(object)
    width_changed = Signal(object)
    height_changed = Signal(object)
    steps_changed = Signal(object)
    guidance_changed = Signal(object)
    sampler_changed = Signal(object)
    schedule_changed = Signal(object)
    # Seeds need 64 bits, which a signal of int has not.
    seed_changed = Signal(object)
    seed_locked_changed = Signal(bool)
    count_changed = Signal(object)
    convention_changed = Signal(object)
    inputs_changed = Signal(object)
    strength_changed = Signal(object)
    refiner_changed = Signal(object)
    extras_changed = Signal(object)
    # Any of them, after its own.
    form_changed = Signal()

    prompt: Field[str] = Field(STARTER_PROMPT)
    negative_prompt: Field[str] = Field("")
    checkpoint: Field[Path] = Field(Path())
    # What is said of the checkpoint, and the parts it was given.
    words: Field[CheckpointWords] = Field(NO_WORDS)
    width: Field[int | None] = Field(None)
    height: Field[int | None] = Field(None)
    steps: Field[int | None] = Field(None)
    guidance: Field[float | None] = Field(None)
    sampler: Field[SamplerName | None] = Field(None)
    schedule: Field[ScheduleName | None] = Field(None)
    # The seed of the latest picture; used again only while it is locked.
    seed: Field[int | None] = Field(None)
    seed_locked: Field[bool] = Field(default=False)
    count: Field[int] = Field(1)
    # The tool whose pictures are wanted; of a picture that was loaded its very habits.
    convention: Field[ConventionName | Convention] = Field(ConventionName.A1111)
    # The picture that the next one starts from, and the mask of what is painted.
    inputs: Field[tuple[InputImage, ...]] = Field(())
    # How much of that picture is redrawn.
    strength: Field[float | None] = Field(None)
    refiner: Field[RefinerChoice | None] = Field(None)
    extras: Field[Extras] = Field(NO_EXTRAS)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        for name in Form.__struct_fields__:
            getattr(self, f"{name}_changed").connect(self._on_field_changed)

    @property
    def form(self) -> "Form":
        """All values as they stand."""
        return Form(**{name: getattr(self, name) for name in Form.__struct_fields__})

    def put(self, form: "Form") -> None:
        """Put these values in the place of all."""
        # In order: what is said of a checkpoint follows the checkpoint.
        for name in Form.__struct_fields__:
            setattr(self, name, getattr(form, name))

    def _on_field_changed(self) -> None:
        self.form_changed.emit()


if TYPE_CHECKING:

    class Form(msgspec.Struct, frozen=True):
        """A frozen struct with the names, types and defaults of `FormFields`."""

        def __init__(self, **values: object) -> None: ...

else:
    Form = msgspec.defstruct(
        "Form",
        [(field.name, field.kind, field.default) for field in fields_of(FormFields)],
        frozen=True,
        kw_only=True,
        module=__name__,
    )
