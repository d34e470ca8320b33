"""Fills the gaps that depend on a request's input pictures, and refuses invalid inputs."""

from pathlib import Path

import msgspec

from engine.api.bounds import bounded
from engine.api.conventions import convention_of
from engine.api.features import Features
from engine.api.masks import MaskedContent, MaskOptions, default_blur, default_strength
from engine.api.remedies import ChooseStartPicture
from engine.api.request import (
    DEFAULT_IMAGE_GUIDANCE,
    GenerateRequest,
    GuidanceOptions,
    InputImage,
)
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode, InputRole
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.file_paths import why_no_file
from engine.pipeline.canvas.canvas import grown
from engine.pipeline.canvas.pictures import picture_size
from engine.pipeline.canvas.references import reference_paths, shown_size
from engine.pipeline.ranges import check_range, invalid

Sides = tuple[int, int]


class FilledInputs(msgspec.Struct, frozen=True):
    """The settings of a request that depend on its input pictures."""

    width: int
    height: int
    strength: float
    mask_options: MaskOptions
    guidance_options: GuidanceOptions


def fill_inputs(request: GenerateRequest, checkpoint: IdentifiedCheckpoint) -> FilledInputs:
    """Return size, strength, mask and image guidance without gaps; the size is not checked.

    Raises EngineError: REQUEST_INVALID, or INPUT_IMAGE_UNREADABLE.
    """
    _check_inputs(request, checkpoint)
    features = checkpoint.architecture.features
    edits = features.edits
    options = _mask_options(request)
    width, height = request.width, request.height
    if options.expands and width is None and height is None:
        # The record needs the enlarged margins to make the picture again.
        size = picture_size(_path(request, InputRole.INIT))
        left, top, right, bottom = grown(size, options.expand, features.size_multiple)
        options = msgspec.structs.replace(options, expand=(left, top, right, bottom))
        width, height = size[0] + left + right, size[1] + top + bottom
    elif edits or (_has(request, InputRole.MASK) and not options.only_masked):
        own = _whole_cells(_path(request, InputRole.INIT), features.size_multiple)
        width = own[0] if width is None else width
        height = own[1] if height is None else height
    elif (paths := reference_paths(request.inputs)) and not _has(request, InputRole.INIT):
        shown = shown_size(paths[0], checkpoint)
        width = shown[0] if width is None else width
        height = shown[1] if height is None else height
    strength = request.strength
    if strength is None:
        masked = _has(request, InputRole.MASK)
        strength = default_strength(features.concat_channels, options, masked=masked)
    return FilledInputs(
        width=checkpoint.default_size if width is None else width,
        height=checkpoint.default_size if height is None else height,
        strength=strength,
        mask_options=options,
        guidance_options=_guidance_options(request.guidance_options, features),
    )


def _mask_options(request: GenerateRequest) -> MaskOptions:
    """Return the mask options without gaps; the defaults where there is no mask."""
    options = request.mask_options
    if not _has(request, InputRole.MASK) and not options.expands:
        return MaskOptions()
    for number in bounded(options):
        check_range(*number)
    if options.expands and options.only_masked:
        hint = sentence("Leave one of them out: all that is new is painted with the whole.")
        raise invalid(sentence("A canvas cannot grow where only what is masked is painted."), hint)
    blur, content = options.blur, options.content
    if blur is None:
        blur = default_blur(convention_of(request.convention).name, options)
    if content is None:
        content = MaskedContent.FILL if options.expands else MaskedContent.ORIGINAL
    return msgspec.structs.replace(options, blur=blur, content=content)


def _guidance_options(options: GuidanceOptions, features: Features) -> GuidanceOptions:
    """Return the options without scales that have no effect: the record tells of all it has."""
    for number in bounded(options):
        check_range(*number)
    guidance = options.image_guidance
    if not features.edits:
        guidance = None
    elif guidance is None:
        guidance = DEFAULT_IMAGE_GUIDANCE
    true_cfg = options.true_cfg if features.takes_true_cfg else GuidanceOptions().true_cfg
    return msgspec.structs.replace(options, image_guidance=guidance, true_cfg=true_cfg)


def _check_inputs(request: GenerateRequest, checkpoint: IdentifiedCheckpoint) -> None:
    roles = [image.role for image in request.inputs]
    for image in request.inputs:
        _check_input(image)
    for role, what in (
        (InputRole.INIT, sentence("picture")),
        (InputRole.MASK, sentence("mask")),
    ):
        if roles.count(role) > 1:
            raise invalid(
                sentence("Only one {what} can be used at a time.", what=what),
                sentence("Leave the others out."),
            )
    _check_references(roles.count(InputRole.REFERENCE), checkpoint)
    if InputRole.INIT in roles:
        return
    if InputRole.MASK in roles:
        raise _without_picture(sentence("A mask says which part of a picture is painted"))
    if request.mask_options.expands:
        raise _without_picture(sentence("A canvas grows around a picture"))
    if checkpoint.architecture.features.edits:
        raise _without_picture(sentence("{path} edits a picture", path=checkpoint.path.name))


def _check_references(count: int, checkpoint: IdentifiedCheckpoint) -> None:
    most = checkpoint.architecture.features.reference_pictures
    if count and not most:
        raise invalid(
            sentence("{path} takes no reference pictures.", path=checkpoint.path.name),
            sentence("Leave them out, or choose a model such as Flux.1 Kontext."),
        )
    if count > most:
        raise invalid(
            sentence(
                "{path} takes at most {most} reference pictures.",
                path=checkpoint.path.name,
                most=most,
            ),
            sentence("Leave the others out."),
        )


def _without_picture(why: Sentence) -> EngineError:
    return invalid(sentence("{why}, and there is none.", why=why), remedies=(ChooseStartPicture(),))


def _check_input(image: InputImage) -> None:
    refers = image.role is InputRole.REFERENCE
    if image.weight != 1 or image.range != (0, 1):
        if refers:
            raise invalid(sentence("A reference picture has no weight or range."))
        hint = sentence("Use the strength to say how much of it is redrawn.")
        raise invalid(sentence("A picture to be redrawn has no weight or range."), hint)
    if problem := why_no_file(image.path):
        kind = sentence("reference picture") if refers else sentence("picture")
        kind = sentence("mask") if image.role is InputRole.MASK else kind
        raise EngineError(
            ErrorCode.INPUT_IMAGE_UNREADABLE,
            sentence(
                "The {kind} {path} cannot be read: {problem}.",
                kind=kind,
                path=image.path,
                problem=problem,
            ),
            sentence("Choose a PNG, JPEG or WebP file."),
        )


def _has(request: GenerateRequest, role: InputRole) -> bool:
    return any(image.role is role for image in request.inputs)


def _path(request: GenerateRequest, role: InputRole) -> Path:
    return Path(next(image.path for image in request.inputs if image.role is role))


def _whole_cells(path: Path, cell: int) -> Sides:
    """Return a picture's width and height, each rounded to the nearest multiple of `cell`."""
    width, height = (max(round(side / cell) * cell, cell) for side in picture_size(path))
    return width, height
