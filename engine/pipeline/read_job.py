"""A job with its input pictures and its prompts read: the part of a job that needs no device."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice

from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.library import Embeddings
from engine.families.architecture import TextPlan
from engine.pipeline.batch import BatchPicture, ResolvedJob
from engine.pipeline.canvas.canvas import Canvas, read_canvas
from engine.pipeline.canvas.encoding import CanvasPictures, canvas_pictures
from engine.pipeline.denoise.passes import DenoisingPass, passes_of
from engine.pipeline.known_embeddings import known_embeddings
from engine.pipeline.picture_loras import WITHOUT_LORAS, PictureLoras
from engine.sampling.samplers import SAMPLERS
from engine.text.foreign_syntax import foreign_marks
from engine.text.lora_strengths import RunLength

# The most pictures whose prompts are read and encoded at once, as wildcards make them differ.
_PICTURES_AT_ONCE = 64


@dataclass(frozen=True, slots=True, eq=False)
class PictureGroup:
    """Some pictures of a job that have the same LoRAs, and the passes with these LoRAs.

    `texts` are the prompts as read for the text encoders of each pass. `missing` are warnings about
    embeddings that were not found.
    """

    pictures: tuple[BatchPicture, ...]
    passes: tuple[DenoisingPass, ...]
    texts: tuple[TextPlan, ...]
    loras: PictureLoras = WITHOUT_LORAS
    missing: tuple[ErrorInfo, ...] = ()

    @property
    def warnings(self) -> tuple[ErrorInfo, ...]:
        """Warnings about LoRAs and embeddings that have no effect, or not in full."""
        return (*self.loras.warnings, *self.missing, *self.texts[0].warnings)


@dataclass(frozen=True, slots=True, eq=False)
class ReadJob:
    """A job whose pictures and prompts are read.

    `canvas` is the picture to redraw, if any, and `to_encode` the pictures of it that the VAE
    encodes. `first` is the first group of pictures; `passes_with_loras` are the passes with the
    LoRAs of that group, and of the others that were read with it.
    """

    job: ResolvedJob
    canvas: Canvas | None
    to_encode: CanvasPictures
    passes: tuple[DenoisingPass, ...]
    first: PictureGroup
    passes_with_loras: tuple[tuple[DenoisingPass, ...], ...]

    @property
    def foreign_syntax(self) -> tuple[ErrorInfo, ...]:
        """Warnings about marks in the prompts that are wildcards in another tool, but not here."""
        if self.job.replace_wildcards is None:
            return ()
        texts = self.job.request.prompt, self.job.request.negative_prompt
        signs = dict.fromkeys(sign for text in texts for _, sign in foreign_marks(text))
        return tuple(
            ErrorInfo(
                ErrorCode.NOT_AVAILABLE,
                sentence(
                    "{sign} in the prompt is no wildcard here; it was drawn as words.", sign=sign
                ),
                sentence(
                    "Write {{a|b}} for one of several words, and __name__ for a line of a list."
                ),
            )
            for sign in signs
        )

    def groups(self, places: range) -> Iterator[PictureGroup]:
        """Yield the pictures at these places of the batch in groups, with their prompts read."""
        count = len(self.first.pictures)
        if places[:count] == range(count):
            yield self.first
            places = places[count:]
        left = self.job.pictures(places)
        while pictures := tuple(islice(left, _PICTURES_AT_ONCE)):
            for loras, members in _alike(self.job, pictures, self.passes):
                yield _read(members, _with_loras(self.passes, loras), loras, self.job.embeddings)


def read_job(job: ResolvedJob) -> ReadJob:
    """Read a job's input pictures, and the prompts of its first group of pictures.

    Raises EngineError: REQUEST_INVALID, INPUT_IMAGE_UNREADABLE.
    """
    request, checkpoint = job.request, job.checkpoint
    canvas = read_canvas(request, checkpoint.latent.downscale)
    masks = canvas is not None and canvas.mask is not None
    passes = passes_of(request, checkpoint, redraws=canvas is not None, masks=masks)
    first = tuple(job.pictures(range(min(job.count, _PICTURES_AT_ONCE))))
    to_encode = canvas_pictures(
        canvas,
        checkpoint.architecture.features.concat_channels,
        (request.height, request.width),
        encodes_init=passes[0].denoising.encodes_init,
    )
    groups = _alike(job, first, passes)
    variants = {loras.key: _with_loras(passes, loras) for loras, _ in groups}
    loras, members = groups[0]
    group = _read(members, variants[loras.key], loras, job.embeddings)
    return ReadJob(job, canvas, to_encode, passes, group, tuple(variants.values()))


def _alike(
    job: ResolvedJob, pictures: tuple[BatchPicture, ...], passes: tuple[DenoisingPass, ...]
) -> list[tuple[PictureLoras, tuple[BatchPicture, ...]]]:
    """Return successive pictures with the same LoRAs together, with these LoRAs."""
    evaluations = SAMPLERS[job.request.sampler].evaluations
    run = RunLength(passes[0].denoising.steps, evaluations, job.request.steps)
    found = [(job.read_loras(picture.request, run), picture) for picture in pictures]
    # Pictures of a group also share what is told of their LoRAs.
    groups = groupby(found, lambda one: (one[0].key, one[0].warnings, one[0].reports))
    lists = [tuple(members) for _, members in groups]
    return [(same[0][0], tuple(picture for _, picture in same)) for same in lists]


def _with_loras(
    passes: tuple[DenoisingPass, ...], loras: PictureLoras
) -> tuple[DenoisingPass, ...]:
    return tuple(one.with_loras(loras.of_pass(place)) for place, one in enumerate(passes))


def _read(
    pictures: tuple[BatchPicture, ...],
    passes: tuple[DenoisingPass, ...],
    loras: PictureLoras,
    embeddings: Embeddings,
) -> PictureGroup:
    prompts = dict.fromkeys(text for picture in pictures for text in picture.texts)
    hashes = pictures[0].request.embedding_hashes
    known, missing = known_embeddings(prompts, hashes, loras.embeddings, embeddings)
    texts = (
        one.checkpoint.architecture.text.read(
            [one.request_of(each.request) for each in pictures], known
        )
        for one in passes
    )
    return PictureGroup(pictures, passes, tuple(texts), loras, missing)
