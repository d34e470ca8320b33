"""Enlarging a picture between two passes, and the canvas that the second one redraws."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from backends.base import Array
from engine import result_checks
from engine.api.second_passes import LatentUpscaler, Resampling, resampling_named
from engine.api.second_sizes import Size
from engine.api.values import ConventionName, ErrorCode, Phase
from engine.errors import EngineError, ran_out_on_host
from engine.families.latents import EncodedImage, LatentFormat
from engine.pipeline.canvas.pictures import as_pixels
from engine.pipeline.denoise.denoising import EncodedCanvas
from engine.pipeline.enlarge.second_runs import SecondRun
from engine.pipeline.stages import Reporter, Stages
from engine.pipeline.vae.autoencoding import Autoencoder
from engine.pipeline.vae.networks import VaeNetworks
from engine.sampling.types import Latent
from engine.upscalers.interpolation import Interpolation, interpolated
from engine.upscalers.reading import Upscaler
from engine.upscalers.resampling import resampled, resampled_levels
from engine.upscalers.running import Setting, running, upscaler_bytes
from engine.upscalers.tiles import Floats
from engine.upscalers.upscale import Enlarger, grown, passes

_MODES: Mapping[str, Interpolation] = {
    LatentUpscaler.BILINEAR: Interpolation.BILINEAR,
    LatentUpscaler.BILINEAR_ANTIALIASED: Interpolation.BILINEAR_ANTIALIASED,
    LatentUpscaler.BICUBIC: Interpolation.BICUBIC,
    LatentUpscaler.BICUBIC_ANTIALIASED: Interpolation.BICUBIC_ANTIALIASED,
    LatentUpscaler.NEAREST: Interpolation.NEAREST,
    LatentUpscaler.NEAREST_EXACT: Interpolation.NEAREST_EXACT,
    LatentUpscaler.AREA: Interpolation.AREA,
    LatentUpscaler.BISLERP: Interpolation.BISLERP,
}


class Enlargement(msgspec.Struct, frozen=True, eq=False):
    """The files and networks that a second pass needs before it begins.

    `upscaler` is None where the latent is enlarged, or the picture without a file. `encoding` has
    the networks for the picture at the size to which it is enlarged.
    """

    upscaler: Upscaler | None
    encoding: VaeNetworks


def enlarging_bytes(second: SecondRun, upscaler: Upscaler | None) -> int:
    """Return about the most bytes that are held while a picture is enlarged for a second pass."""
    if second.enlarges_latent:
        return 0
    size, before = second.size.enlarged, second.size.before
    made, held = size, 0
    if upscaler is not None:
        scale = upscaler.network.scale ** passes(before, size, upscaler.network.scale)
        made, held = (before[0] * scale, before[1] * scale), upscaler_bytes(upscaler)
    pixels = sum(width * height for width, height in (before, size, made))
    return held + 3 * pixels * np.dtype(np.float32).itemsize


class Enlarging:
    """Enlarges the pictures of a job before each of its second passes."""

    def __init__(
        self, enlargements: Sequence[Enlargement], stages: Stages, reporter: Reporter
    ) -> None:
        self._enlargements, self._stages, self._reporter = enlargements, stages, reporter

    def canvas(self, second: SecondRun, latent: Latent, vae: Autoencoder) -> EncodedCanvas:
        """Return the canvas of a second pass, made of the latents of the pass before.

        `vae` is that of the pass before. Raises EngineError and Cancelled as networks do.
        """
        enlargement = self._enlargements[second.number]
        encoder = Autoencoder(enlargement.encoding, self._stages, self._reporter)
        pictures: list[Array] = []
        if not second.enlarges_latent:
            pictures.append(self._picture(second, vae.decode(latent, result_checks.numbers)))
        takes_mask = second.checkpoint.architecture.features.concat_channels.takes_mask
        if takes_mask:
            # All of the picture is painted anew: grey takes its place.
            pictures.append(np.zeros((1, 3, *encoded_size(second)), np.float32))
        encoded = encoder.encode(pictures) if pictures else []
        hidden = _cut(encoded.pop(), second) if takes_mask else None
        whole = encoded[0] if encoded else _enlarged_latent(second, latent, vae.form)
        return EncodedCanvas(_cut(whole, second), hidden=hidden)

    def _picture(self, second: SecondRun, image: Array) -> Array:
        """Return a decoded picture enlarged, float32 [1, 3, height, width] in [-1, 1]."""
        size, method = second.size.enlarged, _resampling(second)
        larger = any(now > was for now, was in zip(size, second.size.before, strict=True))
        upscaler = self._enlargements[second.number].upscaler if larger else None
        planes: Floats = np.clip((image[0] + 1) / 2, 0, 1).astype(np.float32)
        if second.request.convention.name is ConventionName.COMFY:
            if upscaler is not None:
                planes = self._by_network(upscaler, planes, size)
            planes = resized_by_comfy(np.clip(planes, 0, 1), size, method)
            return whole_cells(planes * 2 - 1, second)[np.newaxis]
        # All other tools make a picture of 256 levels of it.
        levels = as_pixels(image, rounds=second.request.convention.rounds_pixels)[0]
        if upscaler is not None:
            seen = levels[:, :, _channels_shown(second)].transpose(2, 0, 1)
            whole = self._by_network(upscaler, seen.astype(np.float32) / 255, size)
            made = np.rint(np.clip(whole, 0, 1) * 255).astype(np.uint8).transpose(1, 2, 0)
            levels = made[:, :, _channels_shown(second)]
        levels = resampled_levels(np.ascontiguousarray(levels), size, method)
        planes = (levels.transpose(2, 0, 1) / 255).astype(np.float32)
        return whole_cells(planes * 2 - 1, second)[np.newaxis]

    def _by_network(self, upscaler: Upscaler, planes: Floats, size: Size) -> Floats:
        """Return planes enlarged by a network until they are no smaller than a width and height.

        If memory lacks, it is done once more with all other networks freed.
        """
        try:
            return self._run(upscaler, planes, size)
        except EngineError as error:
            if error.code is not ErrorCode.OUT_OF_MEMORY or self._stages.pool.is_short_of_memory:
                raise
            on_host = ran_out_on_host(error)
        self._stages.pool.make_room(on_host=on_host)
        return self._run(upscaler, planes, size)

    def _run(self, upscaler: Upscaler, planes: Floats, size: Size) -> Floats:
        stages = self._stages
        setting = Setting(stages.pool.compiler, stages.cancel, self._reporter.progress)
        with stages.timed(Phase.ENLARGE), running(upscaler, setting) as run:
            return grown(planes, size, Enlarger(run.enlarge, upscaler.network.scale))


def resized_by_comfy(planes: Floats, size: Size, method: Resampling) -> Floats:
    """Return planes [channels, height, width] at a width and height as `common_upscale` does.

    Lanczos sees 256 levels, cut off rather than rounded (`lanczos` of ComfyUI's `comfy/utils.py`).
    """
    if method is not Resampling.LANCZOS or planes.shape[:0:-1] == size:
        return resampled(planes, size, method)
    levels = np.ascontiguousarray((255 * planes).astype(np.uint8).transpose(1, 2, 0))
    return (resampled_levels(levels, size, method).transpose(2, 0, 1) / 255).astype(np.float32)


def _channels_shown(second: SecondRun) -> list[int]:
    """Return the order in which an upscaler is shown red, green and blue: backwards by A1111.

    Its networks see pictures as OpenCV has them (`pil_image_to_torch_bgr` of
    `modules/upscaler_utils.py`), whatever they were trained with.
    """
    is_a1111s = second.request.convention.name is ConventionName.A1111
    return [2, 1, 0] if is_a1111s else [0, 1, 2]


def whole_cells(planes: Floats, second: SecondRun) -> Floats:
    """Return planes [channels, height, width] without the pixels that are no whole cell.

    ComfyUI leaves out pixels on all sides (`VAE.vae_encode_crop_pixels`), the convolutions of the
    other tools' encoders those on the right and below.
    """
    cell = second.checkpoint.latent.downscale
    parts: list[slice] = []
    for side in planes.shape[1:]:
        first = side % cell // 2 if second.request.convention.name is ConventionName.COMFY else 0
        parts.append(slice(first, first + side // cell * cell))
    return np.ascontiguousarray(planes[:, parts[0], parts[1]])


def encoded_size(second: SecondRun) -> Size:
    """Return the height and width of the picture that is encoded for a second pass."""
    cell = second.checkpoint.latent.downscale
    width, height = second.size.enlarged
    return height // cell * cell, width // cell * cell


def _resampling(second: SecondRun) -> Resampling:
    """Return the method of a second pass without a file, or for a picture that does not grow."""
    return resampling_named(second.wanted.upscaler) or second.wanted.resampling


def _enlarged_latent(second: SecondRun, latent: Latent, form: LatentFormat) -> EncodedImage:
    width, height = second.size.enlarged
    cells = height // form.downscale, width // form.downscale
    larger = interpolated(latent, cells, _MODES[second.wanted.upscaler])
    return EncodedImage(larger, None, form.unscaled(larger))


def _cut(image: EncodedImage, second: SecondRun) -> EncodedImage:
    """Return a latent without the cells beyond the pass's size, on both sides as A1111 cuts."""
    cell = second.checkpoint.latent.downscale
    parts: list[slice] = []
    for have, side in zip(image.mean.shape[2:], second.size.size[::-1], strict=True):
        first = (have - side // cell) // 2
        parts.append(slice(first, first + side // cell))
    rows, columns = parts

    def kept(latent: Latent) -> Latent:
        return np.ascontiguousarray(latent[:, :, rows, columns])

    deviation = None if image.deviation is None else kept(image.deviation)
    return EncodedImage(kept(image.mean), deviation, kept(image.unscaled))
