"""The form's values, and the suggestions that fill the choices left open."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field
from app.form.fields import CONTROLS, PICTURE_CONTROLS, Extras, Form, FormFields
from app.form.layer_kinds import CONTROL_LAYERS, IMAGE_PROMPTS
from app.form.references import references_in, sent_inputs
from app.form.sizes import fitting_size, whole_side
from app.form.used_layers import used_layers
from app.form.used_options import offered, used_options
from app.form.used_passes import used_passes
from app.library.checkpoint_declarations import CheckpointDeclaration
from engine.api.checkpoints import CheckpointInfo, SuggestedSettings
from engine.api.features import Features
from engine.api.lora import LoraChoice
from engine.api.masks import Margins, default_strength
from engine.api.methods import sampler_options_of, schedule_options_of
from engine.api.request import ComponentFiles, GenerateRequest, InputImage
from engine.api.values import InputRole, SamplerName, ScheduleName

# Of a prompt. Laying out a longer one would freeze the window, and no network reads it.
MOST_CHARACTERS = 10_000


class Suggestions(msgspec.Struct, frozen=True):
    """The values a checkpoint suggests where the user leaves the choice open; sides in pixels."""

    side: int
    # One for each sampler; the first is used if none is chosen.
    settings: tuple[SuggestedSettings, ...]
    features: Features = Features()
    # True for common values: this checkpoint has not been read, or cannot be.
    is_guess: bool = False
    # False while the features are none in particular, until the engine has read the checkpoint.
    knows_features: bool = True
    # The longest side in pixels that it draws well; None if only its own side is known.
    longest_side: int | None = None


# Tried in pictures of many sizes: beyond it the starter draws its object twice.
STARTER_LONGEST_SIDE = 320
# Shown until the engine has inspected the checkpoint: the starter's settings, and common ones.
STARTER_SUGGESTIONS = Suggestions(
    256,
    (
        SuggestedSettings(
            sampler=SamplerName.DPMPP_2M,
            schedule=ScheduleName.SGM_UNIFORM,
            steps=20,
            guidance=2.5,
        ),
    ),
    knows_features=False,
    longest_side=STARTER_LONGEST_SIDE,
)
COMMON_SUGGESTIONS = Suggestions(
    512,
    (
        SuggestedSettings(
            sampler=SamplerName.DPMPP_2M, schedule=ScheduleName.KARRAS, steps=20, guidance=7.0
        ),
    ),
    is_guess=True,
    knows_features=False,
)


class EffectiveSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the next picture: the user's choices, gaps filled by suggestions."""

    width: int
    height: int
    steps: int
    guidance: float
    sampler: SamplerName
    schedule: ScheduleName
    strength: float


SIZE = ("width", "height")
_CHOICES = (*SIZE, "steps", "guidance", "sampler", "schedule")
# The fields that `EffectiveSettings` follow from.
EFFECTIVE_FIELDS = frozenset({*_CHOICES, "inputs", "strength", "suggestions", "mask_options"})
# The other settings of a picture that a checkpoint or the engine decides unless the user does.
OPTIONS = (
    "clip_skip",
    "components",
    "zero_terminal_snr",
    "sampler_options",
    "schedule_options",
    "guidance_options",
    "weight_bits",
    "text_weight_bits",
    "denoiser_options",
    "seed_options",
    "size_options",
    "expand_wildcards",
    "vae_tile",
    "refiner",
    "second_passes",
)

if TYPE_CHECKING:

    class Choices(msgspec.Struct, frozen=True):
        """The values of the form that a checkpoint or the engine decides unless the user does."""

        def __init__(self, **values: object) -> None: ...

else:
    Choices = msgspec.defstruct(
        "Choices",
        [
            (field.name, field.type, field.default)
            for field in msgspec.structs.fields(Form)
            if field.name in (*_CHOICES, *OPTIONS)
        ],
        frozen=True,
        kw_only=True,
        omit_defaults=True,
        module=__name__,
    )


NO_CHOICES = Choices()


def choices_of(form: object) -> Choices:
    """Return what the user decided in a form, or in the state of one."""
    return Choices(**{name: getattr(form, name) for name in Choices.__struct_fields__})


def with_size_of(choices: Choices, other: object) -> Choices:
    """Return the choices with width and height of others, or of a form."""
    size = {name: getattr(other, name) for name in SIZE}
    return msgspec.structs.replace(choices, **size)


class GenerationState(FormFields):
    """The form's values, and the effective settings that follow from them and the suggestions."""

    suggestions_changed = Signal(object)
    # Emitted when `effective` may have changed.
    effective_changed = Signal()

    suggestions = Field(STARTER_SUGGESTIONS)
    # Files of LoRAs that stay in the list, but are not for the chosen checkpoint or are unusable.
    left_out: frozenset[str] = frozenset()

    def __init__(self, checkpoint: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # By the field of a kind of layer: the files by what layers state, None for useless ones.
        self.layer_files: dict[str, dict[str, str | None]] = {}
        # Returns the abilities of another checkpoint, by its path: those of most while unknown.
        self.features_of_file: Callable[[str], Features] = lambda _path: Features()
        self.checkpoint = checkpoint
        self.changed.connect(self._on_changed)

    @property
    def effective(self) -> EffectiveSettings:
        """The settings that the engine will use, as far as the app knows them."""
        suggestions, features = self.suggestions, self.suggestions.features
        sampler = offered(self.sampler, features.samplers)
        wanted = sampler or suggestions.settings[0].sampler
        suggested = next(
            (entry for entry in suggestions.settings if entry.sampler is wanted),
            suggestions.settings[0],
        )
        return EffectiveSettings(
            width=self._side(self.width),
            height=self._side(self.height),
            steps=suggested.steps if self.steps is None else self.steps,
            guidance=suggested.guidance if self.guidance is None else self.guidance,
            sampler=wanted,
            schedule=offered(self.schedule, features.schedules) or suggested.schedule,
            strength=self._default_strength if self.strength is None else self.strength,
        )

    def _side(self, given: int | None) -> int:
        """Return a side in pixels: the checkpoint's own, or the given one as that takes it."""
        known = self.suggestions
        if given is None or known.is_guess:
            return known.side if given is None else given
        return whole_side(given, known.features.size_multiple)

    def features_of(self, checkpoint: str | None) -> Features:
        """Return the abilities of a pass's own checkpoint; None: those of the first pass's."""
        if checkpoint is None:
            return self.suggestions.features
        return self.features_of_file(checkpoint)

    @property
    def sees_negative(self) -> bool:
        """True if a negative prompt may have an effect with the chosen checkpoint and guidance."""
        return self.suggestions.features.sees_negative(self.guidance_options.true_cfg)

    @property
    def _default_strength(self) -> float:
        masked = self.input_path(InputRole.MASK) is not None
        return default_strength(
            self.suggestions.features.concat_channels, self.mask_options, masked=masked
        )

    @property
    def used_components(self) -> ComponentFiles:
        """Files that replace parts; the form's take precedence over the declaration's."""
        chosen, given = self.components, self.declaration.components
        changes = {
            name: file for name, file in msgspec.structs.asdict(chosen).items() if file is not None
        }
        return msgspec.structs.replace(given, **changes)

    @property
    def choices(self) -> Choices:
        """The user's decisions on values that are otherwise left open."""
        return choices_of(self)

    def put_choices(self, choices: Choices) -> None:
        """Replace size, method and all options of a picture."""
        with self.at_once():
            for name in Choices.__struct_fields__:
                setattr(self, name, getattr(choices, name))

    @property
    def has_choices(self) -> bool:
        """True if the user set any value that is otherwise left to the checkpoint or the engine."""
        return self.choices != self._left_open

    def clear_choices(self) -> None:
        """Leave size, method and all options of a picture to the checkpoint and the engine.

        A size that is a start picture's stays.
        """
        self.put_choices(self._left_open)

    @property
    def _left_open(self) -> Choices:
        return with_size_of(NO_CHOICES, self) if self.inputs else NO_CHOICES

    def suggest(self, info: CheckpointInfo, longest_side: int | None = None) -> None:
        """Take a checkpoint's suggested settings; the user's choices stay.

        `longest_side` is the longest in pixels that it draws well, where that is known.
        """
        settings = info.suggested or COMMON_SUGGESTIONS.settings
        self.suggestions = Suggestions(
            info.default_size, settings, info.features, longest_side=longest_side
        )

    def input_path(self, role: InputRole) -> str | None:
        """Return the path of the picture with this role; None if there is none."""
        return next((image.path for image in self.inputs if image.role is role), None)

    def start_from(self, path: str, width: int, height: int) -> None:
        """Start from a picture of this size, in its shape."""
        self.inputs = (InputImage(role=InputRole.INIT, path=path), *references_in(self.inputs))
        self.strength = None
        self._keep_shape()
        self.width, self.height = self.size_to_start_from(width, height)

    def size_to_start_from(self, width: int, height: int) -> tuple[int, int]:
        """Return the size of a picture that is made from a start picture of this size."""
        known = self.suggestions
        return fitting_size(width, height, known.side, known.features.size_multiple)

    def start_anew(self) -> None:
        """Start from noise again, in the checkpoint's own size."""
        self.inputs = references_in(self.inputs)
        self.strength = self.width = self.height = None
        self._keep_shape()

    def paint_within(self, mask: str | None) -> None:
        """Paint only where a mask is white; everywhere without one."""
        had_mask = self.input_path(InputRole.MASK) is not None
        rest = tuple(image for image in self.inputs if image.role is not InputRole.MASK)
        painted = () if mask is None else (InputImage(role=InputRole.MASK, path=mask),)
        with self.at_once():
            self.inputs = (*rest, *painted)
            self.change_mask_options(inverted=False)
            if had_mask != (mask is not None):
                # The usual strength is another one with a mask.
                self.strength = None

    def grow(self, margins: Margins, width: int, height: int) -> None:
        """Grow the canvas around a start picture of this size; the new area is painted."""
        options = self.mask_options
        did_expand = options.expands
        grows = any(margins)
        # What is grown is painted as a whole.
        only_masked = options.only_masked and not grows
        self.change_mask_options(expand=margins, only_masked=only_masked)
        if did_expand != grows:
            # The usual strength is another one for a canvas that grows.
            self.strength = None
        left, top, right, bottom = margins
        self.width, self.height = self.size_to_start_from(
            width + left + right, height + top + bottom
        )

    def change_mask_options(self, **changes: object) -> None:
        """Change some fields of the mask's options."""
        self.mask_options = msgspec.structs.replace(self.mask_options, **changes)

    def _keep_shape(self) -> None:
        """Drop what was painted on, or grown around, an earlier start picture."""
        self.change_mask_options(inverted=False, expand=(0, 0, 0, 0))

    def build_request(self) -> GenerateRequest:
        """Return the form's values as a request. An unlocked seed becomes None."""
        effective = self.effective
        values: dict[str, Any] = {name: getattr(self, name) for name in CONTROLS}
        values |= used_options(self)
        values |= {name: getattr(effective, name) for name in SIZE if values[name] is not None}
        values["checkpoint"] = str(self.checkpoint)
        values["seed"] = self.seed if self.seed_locked else None
        values["override"] = self.declaration.override
        values["components"] = self.used_components
        if self.zero_terminal_snr is None:
            values["zero_terminal_snr"] = self.declaration.zero_terminal_snr
        values["sampler_options"] = sampler_options_of(effective.sampler, self.sampler_options)
        values["schedule_options"] = schedule_options_of(effective.schedule, self.schedule_options)
        values["loras"] = self.used_loras
        values["inputs"] = sent_inputs(self.inputs, self.suggestions)
        values["second_passes"] = used_passes(self)
        for kind in (CONTROL_LAYERS, IMAGE_PROMPTS):
            files = self.layer_files.get(kind.field, {})
            values[kind.field] = used_layers(kind, values[kind.field], files)
        if not self.suggestions.features.negative_prompt:
            values["negative_prompt"] = ""
        return GenerateRequest(**values, **msgspec.structs.asdict(self.extras))

    @property
    def used_loras(self) -> tuple[LoraChoice, ...]:
        """The LoRAs of the list that the next picture is made with."""
        return tuple(lora for lora in self.loras if lora.enabled and lora.file not in self.left_out)

    def load_request(
        self, request: GenerateRequest, declared: CheckpointDeclaration | None = None
    ) -> None:
        """Fill the form; a request without a checkpoint keeps the one that is chosen.

        `declared` is the user's declaration of the checkpoint, for a request that does not tell how
        it is read. The settings of this computer stay.
        """
        with self.at_once():
            if request.checkpoint is not None:
                self.checkpoint = Path(request.checkpoint)
            # The request's `components` and `zero_terminal_snr` are the form's own.
            stated = CheckpointDeclaration(override=request.override)
            self.declaration = stated if declared is None else declared
            self.seed_locked = request.seed is not None
            for name in PICTURE_CONTROLS:
                if name != "checkpoint" and (name != "seed" or self.seed_locked):
                    setattr(self, name, getattr(request, name))
            self.extras = Extras(
                **{name: getattr(request, name) for name in Extras.__struct_fields__}
            )

    def _on_changed(self, names: frozenset[str]) -> None:
        if names & EFFECTIVE_FIELDS:
            self.effective_changed.emit()
