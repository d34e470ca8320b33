"""The prompts of a job through its text encoders."""

from collections.abc import Sequence

import numpy as np

from backends.base import Array, Session
from engine import result_checks
from engine.api.conventions import Chunking
from engine.api.record import ResolvedRequest
from engine.api.values import Phase
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.shared.clip.conditioning import Conditioning, EncodedTokens, encode
from engine.families.shared.clip.joint_conditioning import JointConditioning
from engine.families.shared.clip.token_plan import Ids, PromptPlan, Seen, plan_prompts
from engine.pipeline import networks
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Stages
from engine.sampling.samplers import SAMPLERS
from engine.text.chunks import first_end, zero_filled
from engine.text.cleaning import cleaner
from engine.text.tokenizers import ClipTokenizer

# A prompt and its negative.
Texts = tuple[str, str]
Plans = dict[Texts, PromptPlan]


def texts_of(request: ResolvedRequest) -> Texts:
    """The prompts of a picture."""
    return request.prompt, request.negative_prompt


class PromptEncoding:
    """Plans what is to be encoded for a checkpoint, and encodes it."""

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        tokenizer: ClipTokenizer,
        stages: Stages,
    ) -> None:
        self._request, self._checkpoint = request, checkpoint
        self._stages = stages
        self._tokenizers = {
            component: _tokenizer_for(component, tokenizer, checkpoint, request)
            for component in networks.text_encoders(checkpoint)
        }
        # One of each for the whole job: `Stages` knows again what it has loaded.
        skip, final_norm = request.clip_skip, request.convention.final_norm
        self._networks = {
            (component, masked): networks.text_encoder(
                checkpoint, skip, component, final_norm=final_norm, masked=masked
            )
            for component in networks.text_encoders(checkpoint)
            for masked in (False, True)
        }
        # Kinds and names of networks in the prompts so far.
        self.asked_for: dict[tuple[str, str], None] = {}

    def plan(self, requests: Sequence[ResolvedRequest]) -> Plans:
        """What is to be encoded for each pair of prompts. Raises EngineError(REQUEST_INVALID)."""
        first = next(iter(self._tokenizers))
        different = dict.fromkeys(map(texts_of, requests))
        plans = {texts: self._plan(texts, first) for texts in different}
        tags = (tag for plan in plans.values() for tag in plan.tags)
        self.asked_for |= dict.fromkeys((tag.kind, tag.name) for tag in tags)
        return plans

    def _plan(self, texts: Texts, component: Component) -> PromptPlan:
        # Prompts that change do so by evaluations of the denoiser.
        evaluations = self._request.steps * SAMPLERS[self._request.sampler].evaluations
        tokenizer = self._tokenizers[component]
        return plan_prompts(*texts, tokenizer, self._request.convention, evaluations)

    def _plans_for(self, component: Component, plans: Plans) -> Plans:
        """The same where the encoder reads a word otherwise than the first one does."""
        tokenizers = self._tokenizers
        if tokenizers[component] is next(iter(tokenizers.values())):
            return plans
        return {texts: self._plan(texts, component) for texts in plans}

    def runs(self, plans: Plans) -> tuple[Run, ...]:
        """What `encode` will do, for estimates."""
        masked = _masked(plans)
        return tuple(
            Run(Phase.ENCODE, self._networks[component, masked])
            for component in networks.text_encoders(self._checkpoint)
        )

    def encode(self, plans: Plans) -> dict[Texts, JointConditioning]:
        """Each pair of prompts through each text encoder."""
        found = [
            self._encode_with(component, plans)
            for component in networks.text_encoders(self._checkpoint)
        ]
        return {
            texts: JointConditioning(tuple(self._without_empty(texts, one[texts]) for one in found))
            for texts in plans
        }

    def _encode_with(self, component: Component, plans: Plans) -> dict[Texts, Conditioning]:
        masked = _masked(plans)
        plans = self._plans_for(component, plans)
        network = self._networks[component, masked]
        zero_padded = component in self._checkpoint.text.zero_padded
        end_id = self._tokenizers[component].end_id

        def work(session: Session) -> dict[Texts, Conditioning]:
            inputs = {spec.name for spec in session.inputs}

            def encode_tokens(ids: Ids, seen: Seen | None) -> EncodedTokens:
                feeds: dict[str, Array] = {
                    "tokens": zero_filled(ids, end_id) if zero_padded else ids
                }
                if masked:
                    shown = np.ones(ids.shape, np.bool_) if seen is None else seen
                    feeds["attention_mask"] = shown.astype(np.float32)
                if "end" in inputs:
                    feeds["end"] = first_end(ids, end_id)
                outputs = self._stages.call(session, feeds)
                return EncodedTokens(outputs["last_hidden_state"], outputs.get("pooled"))

            return {texts: encode(plan, encode_tokens) for texts, plan in plans.items()}

        return self._stages.run(Phase.ENCODE, network, work, _embedding_problem)

    def _without_empty(self, texts: Texts, conditioning: Conditioning) -> Conditioning:
        family, convention = self._checkpoint.text, self._request.convention
        knows = convention.name in family.zeroes_empty
        zeroes = knows and convention.zeroes_empty_negative and not texts[1]
        return conditioning.without_negative() if zeroes else conditioning


def _tokenizer_for(
    component: Component,
    tokenizer: ClipTokenizer,
    checkpoint: IdentifiedCheckpoint,
    request: ResolvedRequest,
) -> ClipTokenizer:
    """How an encoder's texts are read: cleaned as its tool does, and filled up.

    Of those that are filled up with token 0, CLIP's "!", diffusers asks the encoder's own
    tokenizer, for which that word fills up wherever it stands; in A1111 and ComfyUI, which fill up
    by themselves, it is text.
    """
    # These are OpenCLIP's.
    zero_padded = component in checkpoint.text.zero_padded
    if zero_padded:
        is_asked = request.convention.chunking is Chunking.CUT
        tokenizer = tokenizer.filling_with_zero() if is_asked else tokenizer.filling_with_end()
    return tokenizer.cleaning(cleaner(request.convention.text_cleaning, open_clip=zero_padded))


def _masked(plans: Plans) -> bool:
    """Whether some tokens are hidden from the others."""
    return any(plan.seen is not None for plan in plans.values())


def _embedding_problem(prompts: dict[Texts, Conditioning]) -> str | None:
    vectors = (vector for prompt in prompts.values() for vector in prompt.all_vectors())
    return next(filter(None, map(result_checks.numbers, vectors)), None)
