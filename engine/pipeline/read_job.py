"""A job with its input pictures and its prompts read: the part of a job that needs no device."""

from collections.abc import Iterator
from itertools import groupby, islice

import msgspec

from engine.api.methods import SAMPLER_FACTS
from engine.api.second_passes import needs_file
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import Embeddings
from engine.families.architecture import TextPlan, Texts
from engine.families.network_changes import changes_of
from engine.pipeline.batch import BatchPicture, ResolvedJob
from engine.pipeline.canvas.canvas import Canvas, Part, read_canvas
from engine.pipeline.canvas.encoding import CanvasPictures, canvas_pictures
from engine.pipeline.canvas.references import ReferencePictures, read_references
from engine.pipeline.control.acting import acting_steps
from engine.pipeline.control.layers import NO_LAYERS, ReadLayers, read_layers
from engine.pipeline.control.lllites import with_control_inputs
from engine.pipeline.control.own_map import map_followers
from engine.pipeline.control.reference import with_reference, with_reference_writer
from engine.pipeline.denoise.passes import DenoisingPass, PassStart, passes_of
from engine.pipeline.enlarge.second_runs import SecondRun
from engine.pipeline.found_upscalers import require_upscaler
from engine.pipeline.known_embeddings import known_embeddings
from engine.pipeline.picture_loras import WITHOUT_LORAS, PictureLoras, one_after_another
from engine.text.foreign_syntax import foreign_marks
from engine.text.lora_strengths import RunLength
from engine.upscalers.reading import Upscaler

# The most pictures whose prompts are read and encoded at once, as wildcards make them differ.
_PICTURES_AT_ONCE = 64


class PictureGroup(msgspec.Struct, frozen=True, eq=False):
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
        of_texts = (warning for text in self._texts_of_runs for warning in text.warnings)
        return (*self.loras.warnings, *self.missing, *dict.fromkeys(of_texts))

    def embeddings(self, picture: BatchPicture) -> dict[str, Embedding]:
        """Return the embeddings that the prompts of a picture use, by the names they are called."""
        found: dict[str, Embedding] = {}
        for pass_, text in zip(self.passes, self.texts, strict=True):
            if pass_.begins_run:
                found |= text.embeddings(texts_in(pass_, picture))
        return found

    @property
    def _texts_of_runs(self) -> list[TextPlan]:
        """The prompts as read for the first checkpoint of each run."""
        pairs = zip(self.passes, self.texts, strict=True)
        return [text for pass_, text in pairs if pass_.begins_run]


def texts_in(pass_: DenoisingPass, picture: BatchPicture) -> Texts:
    """Return the prompts of a picture in a pass."""
    return picture.texts if pass_.second is None else pass_.texts_of(picture.request)


class ReadJob(msgspec.Struct, frozen=True, eq=False):
    """A job whose pictures and prompts are read.

    `canvas` is the picture to redraw, if any, and `to_encode` the pictures of it that the VAE
    encodes. `upscalers` has the file of each second pass, None where it needs none. `first` is the
    first group of pictures; `passes_with_loras` are the passes with the LoRAs of that group, and of
    the others that were read with it. `controls` are the control layers and `references` the
    reference pictures, which all pictures share.
    """

    job: ResolvedJob
    canvas: Canvas | None
    to_encode: CanvasPictures
    passes: tuple[DenoisingPass, ...]
    upscalers: tuple[Upscaler | None, ...]
    first: PictureGroup
    passes_with_loras: tuple[tuple[DenoisingPass, ...], ...]
    controls: ReadLayers
    references: ReferencePictures

    @property
    def second_runs(self) -> tuple[SecondRun, ...]:
        """The second passes, in order."""
        begins = (pass_ for pass_ in self.passes if pass_.begins_enlarged)
        return tuple(pass_.second for pass_ in begins if pass_.second)

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
            for loras, members in _grouped_by_loras(self.job, pictures, self.passes):
                passes = _with_loras(self.passes, loras)
                yield _group_with_texts(members, passes, loras, self.job.embeddings)


def read_job(job: ResolvedJob) -> ReadJob:
    """Read a job's input pictures, and the prompts of its first group of pictures.

    The networks of the job's checkpoints are changed as the request says.

    Raises EngineError: REQUEST_INVALID, INPUT_IMAGE_UNREADABLE; those of an upscaler's file.
    """
    request = job.request
    tool = request.convention.name
    changes = changes_of(request.denoiser_options, request.guidance_options, tool)
    checkpoints = job.checkpoints.with_each(lambda own: own.with_changes(changes), refiner=True)
    canvas = read_canvas(request, checkpoints.first.latent.downscale)
    controls, part = NO_LAYERS, canvas.part if canvas else None
    if request.controls or map_followers(checkpoints):
        controls = read_layers(request, checkpoints, job.make_maps, part=part)
    checkpoints = with_control_inputs(checkpoints, controls, tool)
    checkpoints = with_reference(checkpoints, controls.reference)
    first = checkpoints.first
    masks = canvas is not None and canvas.mask is not None
    passes = passes_of(request, checkpoints, redraws=canvas is not None, masks=masks)
    references = read_references(request.inputs, tool, first)
    passes = tuple(_with_image_prompts(job, pass_, part) for pass_ in passes)
    passes = tuple(with_reference_writer(references.beside(pass_, first)) for pass_ in passes)
    job = msgspec.structs.replace(job, checkpoints=checkpoints)
    pictures = tuple(job.pictures(range(min(job.count, _PICTURES_AT_ONCE))))
    to_encode = canvas_pictures(
        canvas,
        first.architecture.features.concat_channels,
        (request.height, request.width),
        encodes_init=any(pass_.denoising.encodes_init for pass_ in passes if pass_.run == 0),
    )
    groups = _grouped_by_loras(job, pictures, passes)
    variants = {loras.key: _with_loras(passes, loras) for loras, _ in groups}
    loras, members = groups[0]
    group = _group_with_texts(members, variants[loras.key], loras, job.embeddings)
    with_loras = tuple(variants.values())
    return ReadJob(
        job, canvas, to_encode, passes, _upscalers(job), group, with_loras, controls, references
    )


def _upscalers(job: ResolvedJob) -> tuple[Upscaler | None, ...]:
    """Return the upscaler of each second pass, whose file is read; None where it needs none."""
    return tuple(
        job.read_upscaler(require_upscaler(wanted.upscaler)) if needs_file(wanted) else None
        for wanted in job.request.second_passes
    )


def _grouped_by_loras(
    job: ResolvedJob, pictures: tuple[BatchPicture, ...], passes: tuple[DenoisingPass, ...]
) -> list[tuple[PictureLoras, tuple[BatchPicture, ...]]]:
    """Return successive pictures with the same LoRAs together, with these LoRAs."""
    found = [(_loras_of(job, picture, passes), picture) for picture in pictures]
    # Pictures of a group also share what is told of their LoRAs.
    groups = groupby(found, lambda pair: (pair[0].key, pair[0].warnings, pair[0].reports))
    lists = [tuple(members) for _, members in groups]
    return [(same[0][0], tuple(picture for _, picture in same)) for same in lists]


def _loras_of(
    job: ResolvedJob, picture: BatchPicture, passes: tuple[DenoisingPass, ...]
) -> PictureLoras:
    """Return the LoRAs of a picture, which its prompts may name anew for each second pass."""
    found: list[PictureLoras] = []
    for pass_ in passes:
        if not pass_.begins_run:
            continue
        read, request = job.read_loras, picture.request
        if pass_.second is not None:
            read, request = job.loras_of(pass_.second.number), pass_.request_of(request)
            if found[0].mode is not None:
                request = msgspec.structs.replace(request, lora_mode=found[0].mode)
        evaluations = SAMPLER_FACTS[pass_.request.sampler].evaluations
        run = RunLength(pass_.denoising.steps, evaluations, pass_.request.steps)
        found.append(read(request, run))
    counts = [sum(pass_.run == run for pass_ in passes) for run in range(len(found))]
    return one_after_another(found, counts)


def _with_image_prompts(job: ResolvedJob, pass_: DenoisingPass, part: Part | None) -> DenoisingPass:
    """Return a pass with the image prompts of its job.

    They do not act on a refiner, nor on the checkpoint of a second pass with other layers.
    """
    found = job.image_prompts
    attends = pass_.checkpoint.architecture.attention == found.attention
    refines = pass_.begins_with is PassStart.HANDOVER
    if not found.acting or refines or not attends:
        return pass_
    own, acting = pass_.request, acting_steps(pass_.request, pass_.denoising)
    cell, size = pass_.checkpoint.latent.downscale, (own.width, own.height)
    tiles = [(tile.rows, tile.columns) for tile in pass_.tiles]
    return msgspec.structs.replace(
        pass_, image_prompts=found.in_pass(size, cell, tiles, acting, part)
    )


def _with_loras(
    passes: tuple[DenoisingPass, ...], loras: PictureLoras
) -> tuple[DenoisingPass, ...]:
    return tuple(pass_.with_loras(loras.of_pass(place)) for place, pass_ in enumerate(passes))


def _group_with_texts(
    pictures: tuple[BatchPicture, ...],
    passes: tuple[DenoisingPass, ...],
    loras: PictureLoras,
    embeddings: Embeddings,
) -> PictureGroup:
    pairs = [[texts_in(pass_, picture) for picture in pictures] for pass_ in passes]
    prompts = dict.fromkeys(text for of_pass in pairs for texts in of_pass for text in texts)
    hashes = pictures[0].request.embedding_hashes
    known, missing = known_embeddings(prompts, hashes, loras.embeddings, embeddings)
    texts: list[TextPlan] = []
    for pass_, own in zip(passes, pairs, strict=True):
        encoding = pass_.checkpoint.architecture.text
        # Prompts that do not change over the run are the same in all passes of a checkpoint.
        same = (
            place
            for place, before in enumerate(passes[: len(texts)])
            if before.checkpoint is pass_.checkpoint
            and pairs[place] == own
            # A negative prompt that has no effect may be left out.
            and before.denoising.terms.is_guided == pass_.denoising.terms.is_guided
            and not any("[" in text for pair in own for text in pair)
        )
        place = next(same, None)
        if place is None:
            requests = [pass_.request_of(picture.request) for picture in pictures]
            texts.append(encoding.read(requests, known, pass_.drawn_before))
        else:
            texts.append(texts[place])
    return PictureGroup(pictures, passes, tuple(texts), loras, missing)
