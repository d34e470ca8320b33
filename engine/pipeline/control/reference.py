"""A reference picture that self-attentions attend to: what a job reads, and its part in a pass."""

from dataclasses import dataclass, field, replace

import msgspec

from backends.base import Array
from engine.api.control import ControlLayer, ControlMode, ControlReport
from engine.api.features import OptionalSetting
from engine.api.preprocessors import ControlKind, PreprocessorName, ReferenceOptions
from engine.api.record import ResolvedRequest
from engine.api.sentences import sentence
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.network_changes import ReferenceForm
from engine.pipeline.canvas.pictures import as_samples
from engine.pipeline.control.acting import ActingSteps, acting_steps
from engine.pipeline.control.fitting import fitted_map
from engine.pipeline.denoise.passes import DenoisingPass
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.ranges import invalid
from engine.pipeline.vae.autoencoding import Autoencoder
from engine.pipeline.vae.networks import VaeNetworks
from engine.preprocessors.scales import Pixels
from engine.sampling.types import Latent


class ReadReference(msgspec.Struct, frozen=True, eq=False):
    """A layer of the preprocessor `reference_only`, with its picture uint8 [height, width, 3]."""

    layer: ControlLayer
    picture: Pixels
    image_sha256: str = ""

    @property
    def options(self) -> ReferenceOptions:
        """The options of the preprocessor."""
        assert isinstance(self.layer.preprocessor, ReferenceOptions), "a reference has them"
        return self.layer.preprocessor

    @property
    def report(self) -> ControlReport:
        """The part of a record about the layer, which has no network."""
        return ControlReport(
            name=PreprocessorName.REFERENCE_ONLY.value,
            kind=ControlKind.REFERENCE,
            weight=self.layer.weight,
            image_sha256=self.image_sha256,
        )


def require_reference(
    layer: ControlLayer, request: ResolvedRequest, checkpoints: JobCheckpoints
) -> None:
    """Raise EngineError(REQUEST_INVALID) for a reference that cannot act.

    Raises EngineError(CHECKPOINT_INCOMPLETE) for a VAE that has no encoder.
    """
    for used in checkpoints.runs:
        if OptionalSetting.REFERENCE_ATTENTION not in used.architecture.features.options:
            raise invalid(
                sentence("{model} cannot attend to a reference picture.", model=used.path.name),
                sentence(
                    "Leave the reference out, or choose a model of Stable Diffusion 1, 2 or XL."
                ),
            )
        used.architecture.autoencoder.require_encoder()
    if sum(layer.is_reference for layer in request.controls) > 1:
        raise invalid(
            sentence("A picture attends to one reference picture at a time."),
            sentence("Turn off the other references."),
        )
    if layer.mask is not None:
        raise invalid(
            sentence("A reference acts on the whole picture."),
            sentence("Take the mask off its control layer."),
        )
    guidance = request.guidance_options
    if guidance.pag_scale > 0 or guidance.sag_scale != 0:
        raise invalid(
            sentence("A reference picture and guidance by attention do not go together."),
            sentence("Turn off perturbed-attention and self-attention guidance."),
        )


def with_reference(checkpoints: JobCheckpoints, read: ReadReference | None) -> JobCheckpoints:
    """Return checkpoints whose denoisers, but the refiner's, attend to the reference.

    They are the same without a reference, or where its weight leaves it no layer.
    """
    if read is None:
        return checkpoints
    weight = read.layer.weight

    def attending(checkpoint: IdentifiedCheckpoint) -> IdentifiedCheckpoint:
        layers = checkpoint.architecture.denoiser.reference_layers(weight)
        form = ReferenceForm(layers) if layers else None
        return checkpoint.with_changes(msgspec.structs.replace(checkpoint.changes, reference=form))

    return checkpoints.with_each(attending, refiner=False)


@dataclass(slots=True, eq=False)
class ReferencePass:
    """The reference of a pass: when it acts, the style fidelity, and its picture.

    `samples` are float32 [1, 3, height, width] in [-1, 1], as large as what the denoiser sees at
    once; `vae` has the networks that encode them.
    """

    read: ReadReference
    acting: ActingSteps
    fidelity: float
    samples: Array
    vae: VaeNetworks
    _encoded: Latent | None = field(default=None, init=False)

    @classmethod
    def of(cls, read: ReadReference, pass_: DenoisingPass, vae: VaeNetworks) -> "ReferencePass":
        """Return the reference for a pass."""
        layer, rules = read.layer, pass_.request.convention.control
        height, width = pass_.evaluated_size
        fitted = fitted_map(read.picture, (width, height), layer.resize, rules.resampling)
        acting = acting_steps(pass_.request, pass_.denoising)
        return cls(read, acting, _fidelity(read, pass_), as_samples(fitted), vae)

    def acts(self, evaluation: int, level: float) -> bool:
        """Tell whether the reference acts in an evaluation, counted from 0, at a noise level."""
        return self.acting.acts(self.read.layer.range, evaluation, level)

    def encode(self, vae: Autoencoder) -> None:
        """Encode the picture, unless that was done. Raises as `Autoencoder.encode`."""
        if self._encoded is None:
            self._encoded = vae.encode([self.samples])[0].mean

    @property
    def encoded(self) -> Latent:
        """The latent of the picture: float32 [1, C, H, W]."""
        assert self._encoded is not None, "the reference is encoded before the first step"
        return self._encoded


def _fidelity(read: ReadReference, pass_: DenoisingPass) -> float:
    """Return the style fidelity in a pass, by the mode of control (`UnetHook.hook`).

    In a pass that enlarges the picture it is 0, as where the prompt matters more.
    """
    if read.layer.mode is ControlMode.CONTROL:
        return 1.0
    if read.layer.mode is ControlMode.PROMPT or pass_.begins_enlarged:
        return 0.0
    return read.options.style_fidelity


def reference_pass(
    read: ReadReference | None, pass_: DenoisingPass, vae: VaeNetworks
) -> ReferencePass | None:
    """Return the reference of a pass; None for none, and for one whose denoiser has none."""
    if read is None or pass_.writing is None:
        return None
    return ReferencePass.of(read, pass_, vae)


def with_reference_writer(pass_: DenoisingPass) -> DenoisingPass:
    """Return a pass with the twin of its denoiser that writes what layers see of a reference."""
    checkpoint = pass_.checkpoint
    form = checkpoint.changes.reference
    if form is None:
        return pass_
    changes = msgspec.structs.replace(
        checkpoint.changes, reference=msgspec.structs.replace(form, writes=True)
    )
    prefix = f"{checkpoint.network_prefix}reference "
    twin = replace(checkpoint, changes=changes, network_prefix=prefix)
    return msgspec.structs.replace(pass_, writing=twin)
