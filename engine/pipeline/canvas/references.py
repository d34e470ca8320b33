"""Reference pictures: those that a denoiser sees beside the picture that it makes."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from PIL import Image

from backends.base import Array
from engine.api.request import InputImage
from engine.api.values import ConventionName, InputRole
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.pipeline.canvas.pictures import as_samples, picture_size, read_picture
from engine.pipeline.denoise.passes import DenoisingPass

_LANCZOS = Image.Resampling.LANCZOS
# These tools crop a picture to the shape in which it is shown (ComfyUI `common_upscale`); the
# others stretch it.
_CROPPING = (ConventionName.COMFY, ConventionName.A1111)


class ReferencePictures(msgspec.Struct, frozen=True, eq=False):
    """The reference pictures of a job, in order, float32 [1, 3, height, width] in [-1, 1].

    `downscale` is the side of a latent's cell in pixels.
    """

    pictures: tuple[Array, ...]
    downscale: int

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The height and width of each latent, in cells."""
        height, width = 2, 3
        return tuple(
            (picture.shape[height] // self.downscale, picture.shape[width] // self.downscale)
            for picture in self.pictures
        )

    def beside(self, pass_: DenoisingPass, checkpoint: IdentifiedCheckpoint) -> DenoisingPass:
        """Return a pass that sees the pictures, encoded for the job's `checkpoint`.

        A checkpoint that takes none, or has other latents, makes its pass without them.
        """
        own = pass_.checkpoint
        takes = own.architecture.reference_size is not None and own.latent == checkpoint.latent
        return msgspec.structs.replace(pass_, references=self.sizes) if takes else pass_


def reference_paths(inputs: Sequence[InputImage]) -> list[Path]:
    """Return the files of the reference pictures among input pictures, in order."""
    return [Path(file.path) for file in inputs if file.role is InputRole.REFERENCE]


def shown_size(path: Path, checkpoint: IdentifiedCheckpoint) -> tuple[int, int]:
    """Return the width and height at which a reference picture is shown.

    Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    size_of = checkpoint.architecture.reference_size
    assert size_of is not None, "the checkpoint takes reference pictures"
    return size_of(picture_size(path))


def read_references(
    inputs: Sequence[InputImage], tool: ConventionName, checkpoint: IdentifiedCheckpoint
) -> ReferencePictures:
    """Read the reference pictures among input pictures, fitted to their sizes as a tool does.

    Raises EngineError(INPUT_IMAGE_UNREADABLE).
    """
    pictures: list[Array] = []
    scale = checkpoint.architecture.reference_scale
    for path in reference_paths(inputs):
        picture, size = read_picture(path), shown_size(path, checkpoint)
        if scale is not None:
            picture = _cut(picture.resize(scale(picture.size), _LANCZOS), size)
        elif tool in _CROPPING:
            picture = picture.crop(_middle(picture.size, size))
        pictures.append(as_samples(picture.resize(size, _LANCZOS)))
    return ReferencePictures(tuple(pictures), checkpoint.latent.downscale)


def _cut(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return the middle of a picture, of this width and height."""
    left, top = (picture.width - size[0]) // 2, (picture.height - size[1]) // 2
    return picture.crop((left, top, left + size[0], top + size[1]))


def _middle(size: tuple[int, int], wanted: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the box in the middle of a picture that has the shape of a wanted width and height."""
    width, height = size
    before, after = width / height, wanted[0] / wanted[1]
    left = round((width - width * (after / before)) / 2) if before > after else 0
    top = round((height - height * (before / after)) / 2) if before < after else 0
    return left, top, width - left, height - top
