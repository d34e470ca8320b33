"""The plan of a job's pictures on a device: the networks, and their runs for a picture."""

from dataclasses import dataclass

from engine.api.values import Phase
from engine.pipeline.forecast import Run
from engine.pipeline.place import Placement
from engine.pipeline.read_job import ReadJob
from engine.pipeline.vae.networks import VaeNetworks, vae_networks


@dataclass(frozen=True, slots=True, eq=False)
class PicturePlan:
    """A read job and its placement; `runs` are the phases that its first picture goes through."""

    read: ReadJob
    placement: Placement
    vae: VaeNetworks
    runs: tuple[Run, ...]


def plan_pictures(read: ReadJob, placement: Placement) -> PicturePlan:
    """List the networks of a job and their runs, before anything is loaded."""
    request, checkpoint = read.job.request, read.job.checkpoint
    size, downscale = (request.height, request.width), checkpoint.latent.downscale
    vae = vae_networks(checkpoint.architecture.autoencoder, size, downscale, placement.vae_tile)
    return PicturePlan(read, placement, vae, _runs(read, vae))


def _runs(read: ReadJob, vae: VaeNetworks) -> tuple[Run, ...]:
    """Return the runs of the first picture, which stand for every picture in estimates."""
    cells = vae.cells[0] * vae.cells[1]
    runs = list(vae.encoding(read.to_encode.count)) if read.to_encode.count else []
    for one, text in zip(read.first.passes, read.first.texts, strict=True):
        runs += [Run(Phase.ENCODE, network) for network in text.networks]
        runs.append(one.steps(text, read.first.pictures[0].texts, cells))
    return (*runs, *vae.decoding(), Run(Phase.SAVE, each=True, size=cells))
