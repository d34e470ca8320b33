"""The task for a tool: one picture, in words that belong to no tool."""

from dataclasses import dataclass
from typing import Literal

STEPS, SEED, GUIDANCE = 10, 7, 7.0
PROMPT, NEGATIVE = "a red horse, blue house", "blur"

# A text with its weight; the text None ends a chunk (A1111's BREAK).
Fragment = tuple[str | None, float]


@dataclass(frozen=True, slots=True)
class Part:
    """One of the prompts that AND joins, as a tool reads it: fragments by their last step.

    Written out by hand in `matrix`, so that no parser is needed, ours least of all.
    """

    stages: tuple[tuple[int, tuple[Fragment, ...]], ...]
    weight: float = 1.0


def plain(text: str) -> tuple[Part, ...]:
    """A text without weights, the same at all steps."""
    return weighed((text, 1.0))


def weighed(*fragments: Fragment) -> tuple[Part, ...]:
    """Fragments with weights, the same at all steps."""
    return (Part(((10_000, fragments),)),)


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture. `sampler` and `schedule` are the tool's names; schedule "" is its choice."""

    sampler: str
    schedule: str = ""
    steps: int = STEPS
    seed: int = SEED
    guidance: float = GUIDANCE
    prompt: str = PROMPT
    negative: str = NEGATIVE
    # What the tool makes of the prompts; None where they are plain text.
    positive_parts: tuple[Part, ...] | None = None
    negative_parts: tuple[Part, ...] | None = None
    emphasis: Literal["", "original", "no_norm", "none"] = ""
    clip_skip: int = 1
    # The generator that the noise comes from, and the one of ancestral steps.
    source: Literal["cpu", "cuda"] = "cpu"
    pads_chunks: bool = False
    # A1111's "SGM noise multiplier".
    widens_first_noise: bool = False
    prediction: Literal["epsilon", "v_prediction"] = "epsilon"
    zero_terminal_snr: bool = False
    discards_next_to_last: bool = False
    eta: float | None = None
    noise_scale: float | None = None
    churn: float | None = None
    churn_from: float | None = None
    churn_to: float | None = None
    sigma_min: float | None = None
    sigma_max: float | None = None
    rho: float | None = None
    rescale: float = 0.0
    guided: tuple[float, float] = (0.0, 1.0)
    variation_seed: int | None = None
    variation_strength: float = 0.0
    # Width and height in pixels.
    resize_from: tuple[int, int] | None = None
    eta_seed_delta: int = 0
    batch_index: int = 0
    # Redraw the test picture by this much; None makes one from noise.
    strength: float | None = None

    def parts(self) -> tuple[Part, ...]:
        """The parts of the prompt."""
        return plain(self.prompt) if self.positive_parts is None else self.positive_parts

    def uncond(self) -> Part:
        """The fragments of the negative prompt, in which AND means nothing."""
        read = plain(self.negative) if self.negative_parts is None else self.negative_parts
        return read[0]
