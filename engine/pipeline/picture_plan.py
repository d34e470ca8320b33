"""The pictures of a job where they are placed: their networks, and what each of them runs."""

from dataclasses import dataclass

from engine.api.values import Phase
from engine.pipeline.forecast import Run
from engine.pipeline.place import Placement
from engine.pipeline.read_job import ReadJob
from engine.pipeline.vae.networks import VaeNetworks, vae_networks


@dataclass(frozen=True, slots=True, eq=False)
class PicturePlan:
    """A job that was read, where it is placed; `runs` is what its first picture goes through."""

    read: ReadJob
    placement: Placement
    vae: VaeNetworks
    runs: tuple[Run, ...]


def plan_pictures(read: ReadJob, placement: Placement) -> PicturePlan:
    """Name the networks of a job and what they run, before anything is loaded."""
    request, checkpoint = read.job.request, read.job.checkpoint
    size, downscale = (request.height, request.width), checkpoint.latent.downscale
    vae = vae_networks(checkpoint.architecture.autoencoder, size, downscale, placement.vae_tile)
    return PicturePlan(read, placement, vae, _runs(read, vae))


def _runs(read: ReadJob, vae: VaeNetworks) -> tuple[Run, ...]:
    """For estimates; pictures that differ count as the first one."""
    cells = vae.cells[0] * vae.cells[1]
    runs = list(vae.encoding(read.to_encode.count)) if read.to_encode.count else []
    for one, text in zip(read.passes, read.first.texts, strict=True):
        runs += [Run(Phase.ENCODE, network) for network in text.networks]
        runs.append(one.steps(text, read.first.pictures[0].texts, cells))
    return (*runs, *vae.decoding(), Run(Phase.SAVE, each=True, size=cells))
