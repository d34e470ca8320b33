"""The reading of a request's two prompts, timed by the evaluations of its denoiser."""

from engine.api.record import ResolvedRequest
from engine.families.architecture import Texts
from engine.sampling.samplers import SAMPLERS
from engine.text.reading import PromptReading, read_prompt


def expected_evaluations(request: ResolvedRequest) -> int:
    """Return the evaluations of all steps, which time prompts that change during the run."""
    return request.steps * SAMPLERS[request.sampler].evaluations


def read_prompts(
    texts: Texts, request: ResolvedRequest, drawn: int | None, *, embeds_guidance: bool = False
) -> tuple[PromptReading, PromptReading | None]:
    """Read both prompts by the request's convention; the negative one only where it has an effect.

    That is where the guidance is not 1, or, for a denoiser that `embeds_guidance`, the true CFG
    scale. `drawn` is the number of evaluations of the pass before. Raises EngineError as
    `read_prompt` does.
    """
    times, convention = expected_evaluations(request), request.convention
    reading = read_prompt(texts[0], convention, times, drawn=drawn)
    scale = request.guidance_options.true_cfg if embeds_guidance else request.guidance
    if scale == 1:
        return reading, None
    return reading, read_prompt(texts[1], convention, times, negative=True, drawn=drawn)
