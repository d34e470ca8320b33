"""What a person asks for. Gaps (None, AUTO) are filled by `engine.pipeline.resolve`."""

import msgspec

from engine.api.values import ConventionName, InputRole, PrecisionName, SamplerName, ScheduleName


class ComponentFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that replace or supply a part of the checkpoint; None takes the checkpoint's own."""

    denoiser: str | None = None
    text_encoder: str | None = None
    vae: str | None = None


class InputImage(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that steers the generation."""

    role: InputRole
    path: str
    weight: float = 1.0
    # The part of the run it acts in, as fractions of the steps.
    range: tuple[float, float] = (0.0, 1.0)


class GenerateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One press of Generate. Sizes in pixels; `None` means "choose for me"."""

    prompt: str
    negative_prompt: str = ""
    checkpoint: str | None = None
    components: ComponentFiles = ComponentFiles()
    width: int | None = None
    height: int | None = None
    steps: int | None = None
    guidance: float | None = None
    sampler: SamplerName | None = None
    schedule: ScheduleName | None = None
    seed: int | None = None
    count: int = 1
    clip_skip: int | None = None
    inputs: tuple[InputImage, ...] = ()
    # How much of an init picture is redrawn: 0 keeps it, 1 ignores it.
    strength: float | None = None
    convention: ConventionName = ConventionName.A1111
    backend: str = "auto"
    precision: PrecisionName = PrecisionName.AUTO
    memory_limit_bytes: int | None = None
