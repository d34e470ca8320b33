"""The values of the form: each has a signal for its changes, and together they make a `Form`.

A field of a request that is stated here has a control in the window. The other fields, hashes that
a picture's metadata told, are `Extras`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

import msgspec
from PySide6.QtCore import Signal

from app.field import Field, FieldGroup, fields_of
from app.library.checkpoint_declarations import NO_DECLARATION, CheckpointDeclaration
from engine.api import fields as request_fields
from engine.api.control import ControlLayer
from engine.api.conventions import Convention
from engine.api.denoiser_options import DenoiserOptions
from engine.api.image_prompts import ImagePrompt
from engine.api.lora import LoraChoice, LoraMode
from engine.api.masks import MaskOptions
from engine.api.request import (
    ComponentFiles,
    GenerateRequest,
    GuidanceOptions,
    InputImage,
    RefinerChoice,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
    SizeOptions,
)
from engine.api.second_passes import SecondPass
from engine.api.values import (
    ConventionName,
    PrecisionName,
    SamplerName,
    ScheduleName,
    TextWeightBits,
    WeightBits,
)

STARTER_PROMPT = "a red house by the sea at night"


class RequestControls(FieldGroup):
    """The fields of a request that have a control, by their names in `GenerateRequest`.

    None in a choice means that the checkpoint decides. Ranges are those that `GenerateRequest`
    states; the engine refuses what is outside them.
    """

    prompt_changed = Signal(str)
    negative_prompt_changed = Signal(str)
    checkpoint_changed = Signal(object)
    width_changed = Signal(object)
    height_changed = Signal(object)
    steps_changed = Signal(object)
    guidance_changed = Signal(object)
    sampler_changed = Signal(object)
    schedule_changed = Signal(object)
    # Seeds need 64 bits, but a signal of int has 32.
    seed_changed = Signal(object)
    count_changed = Signal(object)
    convention_changed = Signal(object)
    inputs_changed = Signal(object)
    strength_changed = Signal(object)
    refiner_changed = Signal(object)
    loras_changed = Signal(object)
    components_changed = Signal(object)
    clip_skip_changed = Signal(object)
    zero_terminal_snr_changed = Signal(object)
    sampler_options_changed = Signal(object)
    schedule_options_changed = Signal(object)
    guidance_options_changed = Signal(object)
    denoiser_options_changed = Signal(object)
    seed_options_changed = Signal(object)
    size_options_changed = Signal(object)
    mask_options_changed = Signal(object)
    expand_wildcards_changed = Signal(bool)
    vae_tile_changed = Signal(object)
    controls_changed = Signal(object)
    image_prompts_changed = Signal(object)
    second_passes_changed = Signal(object)
    backend_changed = Signal(str)
    precision_changed = Signal(object)
    weight_bits_changed = Signal(object)
    text_weight_bits_changed = Signal(object)
    # A number of bytes needs 64 bits.
    memory_limit_bytes_changed = Signal(object)
    device_memory_limit_bytes_changed = Signal(object)
    lora_mode_changed = Signal(object)

    prompt: Field[str] = Field(STARTER_PROMPT)
    negative_prompt: Field[str] = Field("")
    checkpoint: Field[Path] = Field(Path())
    width: Field[int | None] = Field(None)
    height: Field[int | None] = Field(None)
    steps: Field[int | None] = Field(None)
    guidance: Field[float | None] = Field(None)
    sampler: Field[SamplerName | None] = Field(None)
    schedule: Field[ScheduleName | None] = Field(None)
    # The seed of the latest picture; used again only while it is locked.
    seed: Field[int | None] = Field(None)
    count: Field[int] = Field(1)
    # The tool whose behaviour is followed; for a loaded picture its exact convention.
    convention: Field[ConventionName | Convention] = Field(ConventionName.A1111)
    # The start picture, and the mask of the area to paint.
    inputs: Field[tuple[InputImage, ...]] = Field(())
    # The part of the start picture that is redrawn, in [0, 1].
    strength: Field[float | None] = Field(None)
    refiner: Field[RefinerChoice | None] = Field(None)
    # Those of the list, the switched-off ones too; the prompt may name others by tags.
    loras: Field[tuple[LoraChoice, ...]] = Field(())
    # Files for parts of the checkpoint; the declaration has those for its missing parts.
    components: Field[ComponentFiles] = Field(ComponentFiles())
    clip_skip: Field[int | None] = Field(None)
    zero_terminal_snr: Field[bool | None] = Field(None)
    # Options that the chosen sampler or schedule lacks are kept for another one.
    sampler_options: Field[SamplerOptions] = Field(SamplerOptions())
    schedule_options: Field[ScheduleOptions] = Field(ScheduleOptions())
    guidance_options: Field[GuidanceOptions] = Field(GuidanceOptions())
    denoiser_options: Field[DenoiserOptions] = Field(DenoiserOptions())
    seed_options: Field[SeedOptions] = Field(SeedOptions())
    size_options: Field[SizeOptions] = Field(SizeOptions())
    mask_options: Field[MaskOptions] = Field(MaskOptions())
    expand_wildcards: Field[bool] = Field(default=True)
    vae_tile: Field[int | None] = Field(None)
    weight_bits: Field[WeightBits] = Field(WeightBits.AUTO)
    text_weight_bits: Field[TextWeightBits] = Field(TextWeightBits.SAME)
    # Pictures to follow, the switched-off ones too.
    controls: Field[tuple[ControlLayer, ...]] = Field(())
    image_prompts: Field[tuple[ImagePrompt, ...]] = Field(())
    second_passes: Field[tuple[SecondPass, ...]] = Field(())
    # From here on, settings of this computer, which no picture brings along.
    backend: Field[str] = Field("auto")
    precision: Field[PrecisionName] = Field(PrecisionName.AUTO)
    memory_limit_bytes: Field[int | None] = Field(None)
    device_memory_limit_bytes: Field[int | None] = Field(None)
    lora_mode: Field[LoraMode] = Field(LoraMode.AUTO)


CONTROLS = tuple(field.name for field in fields_of(RequestControls))
# The controls of settings that belong to a picture.
PICTURE_CONTROLS = tuple(
    name for name in CONTROLS if not request_fields.fields_of(GenerateRequest)[name].is_machine
)
# The override belongs to `CheckpointDeclaration`.
_ELSEWHERE = frozenset({*CONTROLS, "override"})

if TYPE_CHECKING:

    class Extras(GenerateRequest, frozen=True, kw_only=True):
        """The fields of a loaded request that have no control: hashes of files in the prompts."""

        def __init__(self, **values: object) -> None: ...

else:
    _TYPES = get_type_hints(GenerateRequest, include_extras=True)
    Extras = msgspec.defstruct(
        "Extras",
        [
            (field.name, _TYPES[field.name], field.default)
            for field in request_fields.fields_of(GenerateRequest).values()
            if field.name not in _ELSEWHERE
        ],
        frozen=True,
        kw_only=True,
        module=__name__,
    )


NO_EXTRAS = Extras()


class FormFields(RequestControls):
    """Everything that the user edits."""

    declaration_changed = Signal(object)
    seed_locked_changed = Signal(bool)
    extras_changed = Signal(object)

    # For the chosen checkpoint: its override, and the files for its missing parts.
    declaration: Field[CheckpointDeclaration] = Field(NO_DECLARATION)
    seed_locked: Field[bool] = Field(default=False)
    extras: Field[Extras] = Field(NO_EXTRAS)

    @property
    def form(self) -> "Form":
        """The present values of all fields."""
        return Form(**{name: getattr(self, name) for name in Form.__struct_fields__})

    def put(self, form: "Form") -> None:
        """Replace all values with these."""
        # In this order, because a change of the checkpoint also sets the declaration.
        with self.at_once():
            for name in Form.__struct_fields__:
                setattr(self, name, getattr(form, name))


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
