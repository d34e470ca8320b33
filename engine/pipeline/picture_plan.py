"""The plan of a job's pictures on a device: the networks, and their runs for a picture."""

from collections.abc import Iterator, Sequence

import msgspec

from engine.api.values import Phase
from engine.pipeline.control.own_map import OwnMapPass
from engine.pipeline.control.reference import ReferencePass, reference_pass
from engine.pipeline.control.running import ControlPass, control_pass
from engine.pipeline.denoise.passes import DenoisingPass
from engine.pipeline.enlarge.enlarging import Enlargement, encoded_size
from engine.pipeline.enlarge.second_runs import SecondRun
from engine.pipeline.forecast import Run
from engine.pipeline.place import Placement
from engine.pipeline.read_job import ReadJob, texts_in
from engine.pipeline.vae.networks import VaeNetworks, vae_networks


class PicturePlan(msgspec.Struct, frozen=True, eq=False):
    """A read job and its placement; `runs` are the phases that its first picture goes through.

    `vaes` has the networks of the first run and of each second pass, `enlargements` what each
    second pass needs before it begins. For each pass, and None for one without: `controls` are its
    control layers, `attended` the reference that its self-attentions attend to, and `own_maps` the
    map that its denoiser follows by itself. `references` encode the reference pictures that
    denoisers see beside the latent.
    """

    read: ReadJob
    placement: Placement
    vaes: tuple[VaeNetworks, ...]
    enlargements: tuple[Enlargement, ...]
    runs: tuple[Run, ...]
    controls: tuple[ControlPass | None, ...]
    references: tuple[VaeNetworks, ...]
    attended: tuple[ReferencePass | None, ...]
    own_maps: tuple[OwnMapPass | None, ...]


def plan_pictures(read: ReadJob, placement: Placement) -> PicturePlan:
    """List the networks of a job and their runs, before anything is loaded."""
    request, tile = read.job.request, placement.vae_tile
    first = read.job.checkpoints.first
    vaes = [vae_networks(first, (request.height, request.width), tile)]
    enlargements: list[Enlargement] = []
    for second, upscaler in zip(read.second_runs, read.upscalers, strict=True):
        width, height = second.size.size
        vaes.append(vae_networks(second.checkpoint, (height, width), tile))
        encoded = encoded_size(second)
        same = encoded == (height, width)
        encoding = vaes[-1] if same else vae_networks(second.checkpoint, encoded, tile)
        enlargements.append(Enlargement(upscaler, encoding))
    controls = tuple(
        control_pass(read.controls, pass_, vae_of_pass(read, pass_, tile)) for pass_ in read.passes
    )
    references = tuple(
        vae_networks(first, (picture.shape[2], picture.shape[3]), tile)
        for picture in read.references.pictures
    )
    attended = tuple(_attended(read, pass_, tile) for pass_ in read.passes)
    own_maps = tuple(_own_map(read, pass_, tile) for pass_ in read.passes)
    encoding = (*references, *(follower.vae for follower in (*attended, *own_maps) if follower))
    runs = [run for vae in encoding for run in vae.encoding(1)]
    runs += _runs(read, vaes, enlargements, controls)
    return PicturePlan(
        read,
        placement,
        tuple(vaes),
        tuple(enlargements),
        tuple(runs),
        controls,
        references,
        attended,
        own_maps,
    )


def _attended(read: ReadJob, pass_: DenoisingPass, tile: int | None) -> ReferencePass | None:
    """Return the reference of a pass, which is as large as what its denoiser sees at once."""
    own = read.job.checkpoints.runs[pass_.run]
    vae = vae_networks(own, pass_.evaluated_size, tile)
    return reference_pass(read.controls.reference, pass_, vae)


def _own_map(read: ReadJob, pass_: DenoisingPass, tile: int | None) -> OwnMapPass | None:
    """Return the map that the denoiser of a pass follows itself, as large as the picture."""
    own = read.controls.own_map
    if own is None or not pass_.checkpoint.architecture.features.follows_map:
        return None
    return OwnMapPass(own, pass_, vae_of_pass(read, pass_, tile))


def vae_of_pass(read: ReadJob, pass_: DenoisingPass, tile: int | None) -> VaeNetworks:
    """Return the networks for pictures of a pass."""
    checkpoint = read.job.checkpoints.runs[pass_.run]
    return vae_networks(checkpoint, (pass_.request.height, pass_.request.width), tile)


def _runs(
    read: ReadJob,
    vaes: Sequence[VaeNetworks],
    enlargements: Sequence[Enlargement],
    controls: Sequence[ControlPass | None],
) -> Iterator[Run]:
    """Yield the runs of the first picture, which stand for every picture in estimates."""
    picture = read.first.pictures[0]
    if read.to_encode.count:
        yield from vaes[0].encoding(read.to_encode.count)
    yield from (run for control in controls if control for run in control.embedding_runs())
    for network in read.job.image_prompts.networks:
        yield Run(Phase.ENCODE, network)
    for text in dict.fromkeys(read.first.texts):
        yield from (Run(Phase.ENCODE, network) for network in text.networks)
    for pass_, text, control in zip(read.first.passes, read.first.texts, controls, strict=True):
        if pass_.second is not None and pass_.begins_enlarged:
            number = pass_.second.number
            yield from _enlarging(pass_.second, vaes[number], enlargements[number])
        steps = pass_.steps(text, texts_in(pass_, picture))
        beside = control.evaluations(steps.network) if control and steps.network else ()
        writing = pass_.writing_network(text, texts_in(pass_, picture))
        yield msgspec.structs.replace(steps, beside=(*beside, writing) if writing else beside)
    cells = vaes[-1].cells[0] * vaes[-1].cells[1]
    yield from vaes[-1].decoding()
    yield Run(Phase.SAVE, per_picture=True, size=cells)


def _enlarging(second: SecondRun, vae: VaeNetworks, enlargement: Enlargement) -> Iterator[Run]:
    """Yield the runs before a second pass; `vae` is that of the pass before."""
    pictures = 0 if second.enlarges_latent else 1
    if pictures:
        yield from vae.decoding()
    if enlargement.upscaler is not None:
        cells = enlargement.encoding.cells
        yield Run(Phase.ENLARGE, per_picture=True, size=cells[0] * cells[1])
    features = second.checkpoint.architecture.features
    pictures += features.concat_channels.takes_mask
    if pictures:
        yield from enlargement.encoding.encoding(pictures, per_picture=True)
