"""One screen from a resolved job to its pictures: encode, denoise, decode, check."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, ErrorInfo, InputRole, Phase
from engine.compile.compiler import Network
from engine.families.base import Component, IdentifiedCheckpoint
from engine.pipeline import checks, networks
from engine.pipeline.batch import ReplaceWildcards, request_of_picture
from engine.pipeline.conditioning import Conditioning, EncodedTokens, encode
from engine.pipeline.denoising import Denoising, EncodedImage
from engine.pipeline.forecast import Run
from engine.pipeline.inputs import read_image
from engine.pipeline.joint_conditioning import JointConditioning
from engine.pipeline.prompt_plan import Ids, PromptPlan, Seen, plan_prompts
from engine.pipeline.size_conditioning import added_conditioning
from engine.pipeline.stages import Reporter, Stages, as_pixels
from engine.sampling.samplers import SAMPLERS
from engine.sampling.types import Latent
from engine.text.chunks import first_end, zero_filled
from engine.text.tokenizers import ClipTokenizer

# How many pictures have their prompts encoded at once, where wildcards make them differ.
_PICTURES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Job:
    """A request without gaps, the checkpoint it runs on, and which pictures of it to make."""

    request: ResolvedRequest
    checkpoint: IdentifiedCheckpoint
    tokenizer: ClipTokenizer
    # How many pictures the batch has, and the places in it of those to make.
    count: int
    places: range
    # None where text that looks like wildcards is text.
    replace_wildcards: ReplaceWildcards | None = None

    def requests(self) -> Iterator[ResolvedRequest]:
        """The request that makes each picture alone."""
        for place in self.places:
            yield request_of_picture(self.request, place, self.count, self.replace_wildcards)


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished picture, uint8 [height, width, 3], and the request that makes it."""

    request: ResolvedRequest
    pixels: NDArray[np.uint8]


_Texts = tuple[str, str]


class Generation:
    """The run of one job through its stages."""

    def __init__(self, job: Job, stages: Stages, reporter: Reporter) -> None:
        """Read and plan what can be wrong. Raises EngineError before anything is loaded."""
        self.job, self.stages, self.reporter = job, stages, reporter
        self.request, self.checkpoint = job.request, job.checkpoint
        self.init = self._read_init()
        self.denoising = Denoising(job.request, job.checkpoint, redraws=self.init is not None)
        # One of each for the whole job: `Stages` knows again what it has loaded.
        size = job.request.height, job.request.width
        self._encoder = networks.encoder(self.checkpoint, *size)
        self._decoder = networks.decoder(self.checkpoint, *size)
        # By contexts and tokens.
        self._denoisers: dict[tuple[int, int], Network] = {}
        skip, final_norm = job.request.clip_skip, job.request.convention.final_norm
        self._text_encoders = {
            (component, masked): networks.text_encoder(
                self.checkpoint, skip, component, final_norm=final_norm, masked=masked
            )
            for component in networks.text_encoders(self.checkpoint)
            for masked in (False, True)
        }
        # Kinds and names of networks in the prompts so far.
        self._asked_for: dict[tuple[str, str], None] = {}

    @property
    def warnings(self) -> list[ErrorInfo]:
        """What the pictures so far were to have and have not."""
        return [
            ErrorInfo(
                ErrorCode.NOT_AVAILABLE,
                f"<{kind}:{name}> in the prompt had no effect.",
                "This version cannot apply such networks yet; the picture was made without.",
            )
            for kind, name in self._asked_for
        ]

    def pictures(self) -> Iterator[Picture]:
        """Yield each picture as soon as it is decoded and checked."""
        requests = self.job.requests()
        init = beside = None
        announced = False
        while group := tuple(islice(requests, _PICTURES_AT_ONCE)):
            plans = self._plan_prompts(group)
            if not announced:
                self.stages.announce(self._runs(plans, group[0]), len(self.job.places))
                announced = True
            if init is None and self.init is not None:
                init = self._encode_image(self.init)
            if beside is None:
                beside = self._channels_beside()
            # The text encoder leaves a processor half idle and is small: the denoiser loads beside.
            self.stages.prepare(self._denoiser(plans[_texts(group[0])]))
            prompts = self._encode_prompts(plans)
            for request in group:
                texts = _texts(request)
                network = self._denoiser(plans[texts])
                latent = self._denoise(network, request, prompts[texts], init, beside)
                image = self._decode(latent)
                rounds = request.convention.rounds_pixels
                yield Picture(request, as_pixels(image, rounds=rounds)[0])

    def first_runs(self) -> tuple[Run, ...]:
        """What the first picture will go through, before anything is loaded."""
        request = next(self.job.requests())
        return self._runs(self._plan_prompts((request,)), request)

    def _runs(self, plans: dict[_Texts, PromptPlan], request: ResolvedRequest) -> tuple[Run, ...]:
        """What the job will do, for estimates: where its pictures differ, as the first one."""
        form = self.checkpoint.latent
        cells = (request.height // form.downscale) * (request.width // form.downscale)
        masked = any(plan.seen is not None for plan in plans.values())
        denoiser = self._denoiser(plans[_texts(request)])
        contexts, _ = plans[_texts(request)].shape(guided=request.guidance != 1)
        evaluations = self.denoising.steps * SAMPLERS[request.sampler].evaluations
        encoder = Run(Phase.ENCODE, self._encoder, size=cells)
        return (
            *((encoder,) if self.init is not None or self._sees_more else ()),
            *(
                Run(Phase.ENCODE, self._text_encoders[component, masked])
                for component in networks.text_encoders(self.checkpoint)
            ),
            Run(Phase.DENOISE, denoiser, times=evaluations * contexts, each=True, size=cells),
            Run(Phase.DECODE, self._decoder, each=True, size=cells),
            Run(Phase.SAVE, each=True, size=cells),
        )

    @property
    def _sees_more(self) -> bool:
        """Whether the denoiser sees more than the latent."""
        return networks.denoiser_channels(self.checkpoint) != self.checkpoint.latent.channels

    def _read_init(self) -> Array | None:
        paths = [i.path for i in self.request.inputs if i.role is InputRole.INIT]
        if not paths:
            return None
        return read_image(Path(paths[0]), self.request.width, self.request.height)

    def _plan_prompts(self, requests: Sequence[ResolvedRequest]) -> dict[_Texts, PromptPlan]:
        """What is to be encoded for each pair of prompts. Raises EngineError(REQUEST_INVALID)."""
        # Prompts that change do so by evaluations of the denoiser.
        evaluations = self.request.steps * SAMPLERS[self.request.sampler].evaluations
        tokenizer, convention = self.job.tokenizer, self.request.convention
        plans = {
            texts: plan_prompts(*texts, tokenizer, convention, evaluations)
            for texts in dict.fromkeys(map(_texts, requests))
        }
        tags = (tag for plan in plans.values() for tag in plan.tags)
        self._asked_for |= dict.fromkeys((tag.kind, tag.name) for tag in tags)
        return plans

    def _encode_prompts(self, plans: dict[_Texts, PromptPlan]) -> dict[_Texts, JointConditioning]:
        """Each pair of prompts through each text encoder."""
        found = [
            self._encode_with(component, plans)
            for component in networks.text_encoders(self.checkpoint)
        ]
        return {
            texts: JointConditioning(tuple(self._without_empty(texts, one[texts]) for one in found))
            for texts in plans
        }

    def _encode_with(
        self, component: Component, plans: dict[_Texts, PromptPlan]
    ) -> dict[_Texts, Conditioning]:
        masked = any(plan.seen is not None for plan in plans.values())
        network = self._text_encoders[component, masked]
        zero_padded = component in self.checkpoint.text.zero_padded
        end_id = self.job.tokenizer.end_id

        def work(session: Session) -> dict[_Texts, Conditioning]:
            inputs = {spec.name for spec in session.inputs}

            def encode_tokens(ids: Ids, seen: Seen | None) -> EncodedTokens:
                feeds: dict[str, Array] = {
                    "tokens": zero_filled(ids, end_id) if zero_padded else ids
                }
                if masked:
                    shown = np.ones(ids.shape, np.bool_) if seen is None else seen
                    feeds["seen"] = shown.astype(np.float32)
                if "end" in inputs:
                    feeds["end"] = first_end(ids, end_id)
                outputs = self.stages.call(session, feeds)
                return EncodedTokens(outputs["last_hidden_state"], outputs.get("pooled"))

            return {texts: encode(plan, encode_tokens) for texts, plan in plans.items()}

        return self.stages.run(Phase.ENCODE, network, work, _embedding_problem)

    def _without_empty(self, texts: _Texts, conditioning: Conditioning) -> Conditioning:
        family, convention = self.checkpoint.text, self.request.convention
        zeroes = family.zeroes_empty and convention.zeroes_empty_negative and not texts[1]
        return conditioning.without_negative() if zeroes else conditioning

    def _encode_image(self, image: Array) -> EncodedImage:
        """The distribution of a picture's latent, scaled for the denoiser."""

        def work(session: Session) -> Array:
            return self.stages.call(session, {"image": image})["moments"]

        moments = self.stages.run(Phase.ENCODE, self._encoder, work, checks.numbers)
        return EncodedImage.from_moments(moments, self.checkpoint.latent)

    def _channels_beside(self) -> Latent | None:
        """What an inpainting denoiser sees beside the latent: the mask and the masked picture.

        Without a mask everything is to be painted: the mask is all ones and hides a grey picture
        (A1111 `txt2img_image_conditioning`). None for denoisers that see the latent alone.
        """
        if not self._sees_more:
            return None
        grey = np.zeros((1, 3, self.request.height, self.request.width), np.float32)
        hidden = self._encode_image(grey).mean
        return np.concatenate([np.ones_like(hidden[:, :1]), hidden], axis=1)

    def _denoiser(self, plan: PromptPlan) -> Network:
        """The denoiser for these prompts and the job's size; the same one for the same shape."""
        shape = contexts, tokens = plan.shape(guided=self.request.guidance != 1)
        if shape not in self._denoisers:
            size = self.request.height, self.request.width
            self._denoisers[shape] = networks.denoiser(
                self.checkpoint, *size, contexts=contexts, tokens=tokens
            )
        return self._denoisers[shape]

    def _denoise(
        self,
        network: Network,
        request: ResolvedRequest,
        prompt: JointConditioning,
        init: EncodedImage | None,
        beside: Latent | None,
    ) -> Latent:
        """From seeded noise, over the init picture if there is one, to a clean latent."""
        denoising = self.denoising

        def work(session: Session) -> Latent:
            evaluations = count()
            pinned: Array | None = None

            def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
                nonlocal pinned
                evaluation = next(evaluations)
                context = prompt.at(evaluation, guided=guided)
                # The same object while nothing changes.
                if context is not pinned:
                    session.pin("context", context)
                    pooled = prompt.pooled_at(evaluation, guided=guided)
                    if pooled is not None:
                        added = added_conditioning(self.checkpoint, request, pooled, guided=guided)
                        session.pin("added", added)
                    pinned = context
                sample = x if beside is None else _beside(x, beside)
                waves = networks.time_waves(self.checkpoint, float(timestep))
                feeds = {"sample": sample, "time_waves": waves}
                return self.stages.call(session, feeds)["prediction"]

            x, noise = denoising.start(request, init)
            total = denoising.steps
            self.reporter.progress(0, total)
            for step in denoising.run(x, noise, predict, prompt.weights):
                x = step.x
                self.reporter.progress(step.progress(total), total)
                self.reporter.preview(step.index + 1, step.denoised, self.checkpoint.latent)
                if checks.numbers(x):
                    break  # further steps would only cost time
            return denoising.finish(x)

        return self.stages.run(Phase.DENOISE, network, work, checks.numbers, keep=True)

    def _decode(self, latent: Latent) -> Array:
        """Pixels in [-1, 1], float32 [1, 3, height, width]."""
        form = self.checkpoint.latent
        unscaled = (latent / np.float32(form.scale) + np.float32(form.shift)).astype(np.float32)

        def work(session: Session) -> Array:
            return self.stages.call(session, {"latent": unscaled})["image"]

        # A blank page, redrawn a little, may come out blank.
        blank = self.init is not None and checks.is_flat(self.init)
        problem = checks.numbers if blank else checks.picture
        return self.stages.run(Phase.DECODE, self._decoder, work, problem, keep=True)


def _beside(x: Latent, channels: Latent) -> Latent:
    """Latents [batch, C, H, W] with the same further channels [1, D, H, W] for each."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)


def _texts(request: ResolvedRequest) -> _Texts:
    return request.prompt, request.negative_prompt


def _embedding_problem(prompts: dict[_Texts, Conditioning]) -> str | None:
    vectors = (vector for prompt in prompts.values() for vector in prompt.all_vectors())
    return next(filter(None, map(checks.numbers, vectors)), None)
