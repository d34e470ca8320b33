"""The file that a failure is about: the checkpoint of its picture, or one beside it."""

from collections.abc import Iterator
from pathlib import PurePath

from app.queue.jobs import Job
from engine.api.request import GenerateRequest
from engine.api.sentences import Sentence
from engine.api.values import ErrorInfo


def is_beside_checkpoint(job: Job, error: ErrorInfo) -> bool:
    """Return True for a failure that names a file of a layer or of a second pass.

    Choosing another checkpoint would not help.
    """
    if job.generation is None or not isinstance(error.text, Sentence):
        return False
    named = {str(value) for _, value in error.text.values}
    return any(PurePath(file).name in named for file in _beside(job.generation))


def _beside(request: GenerateRequest) -> Iterator[str]:
    for layer in request.controls:
        yield from filter(None, (layer.network, layer.preprocessor_weights))
    for prompt in request.image_prompts:
        yield from filter(None, (prompt.adapter, prompt.encoder))
    for second in request.second_passes:
        yield from filter(None, (second.upscaler, second.checkpoint))
