"""Encoding prompts with the Qwen3 encoder of a checkpoint: tokenizing first, then running."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from backends.base import Array, Session
from engine.api.methods import SAMPLER_FACTS
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, ErrorInfo
from engine.compile.network import Network
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.architecture import Conditioning, Texts, distinct_texts
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.running import EncoderRunner
from engine.families.shared.component_network import config_of
from engine.families.shared.prompts.conditioning import PromptConditioning
from engine.families.shared.prompts.prompt_embeddings import (
    EncoderOutput,
    PromptEmbeddings,
    encode,
    first_problem,
)
from engine.families.shared.prompts.prompt_tokens import (
    AttentionMask,
    Insertions,
    PromptTokens,
    TokenIds,
    plan_rows,
)
from engine.families.shared.qwen3.network import qwen3_network
from engine.graphs.qwen3 import Qwen3Config, place_inputs
from engine.text.chat_rows import ChatTemplate, chat_convention, chat_rows_for
from engine.text.qwen_tokenizer import QwenTokenizer
from engine.text.reading import read_prompts
from engine.text.tags import NetworkTag

# Makes inputs of the states of texts, float32 [contexts, tokens, width].
ContextInputs = Callable[[Array], Mapping[str, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class Qwen3Text:
    """A `TextEncoding` of a Qwen3 decoder, which reads each prompt as a person's question.

    The denoiser takes the states `after` some layers, None for all but the last one; those of
    padding, too, if `keeps_padding`, else zeros in their place. `of_context` makes its
    other inputs of the states.
    """

    checkpoint: IdentifiedCheckpoint
    template: ChatTemplate
    of_context: ContextInputs
    after: tuple[int, ...] | None = None
    keeps_padding: bool = False
    component: Component = Component.TEXT_ENCODER
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: dict[int, Network] = field(default_factory=dict[int, Network], init=False)

    @property
    def components(self) -> tuple[Component, ...]:
        """The encoder, if the checkpoint has one."""
        return (self.component,) if self.component in self.checkpoint.components else ()

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        embeddings: Embeddings = NO_EMBEDDINGS,
        drawn: int | None = None,
    ) -> "Qwen3TextPlan":
        """Tokenize the prompts of requests; see `TextEncoding.read`. It takes no embeddings."""
        request = requests[0]
        convention, guided = chat_convention(request.convention), request.guidance != 1
        times = request.steps * SAMPLER_FACTS[request.sampler].evaluations
        readings = {
            texts: read_prompts(texts, convention, times, guided=guided, drawn=drawn)
            for texts in distinct_texts(requests)
        }
        every = [reading for pair in readings.values() for reading in pair if reading is not None]
        layout = chat_rows_for(every, convention, self.template)
        prompts = {
            texts: plan_rows(*pair, layout, convention, wants_empty=False)
            for texts, pair in readings.items()
        }
        return Qwen3TextPlan(self, layout.length, prompts)

    def network(self, positions: int) -> Network:
        """Return the network for rows of usually so many positions, the same object each time."""
        if positions not in self._networks:
            self._networks[positions] = qwen3_network(
                self.checkpoint, self.component, positions, self.after
            )
        return self._networks[positions]


class Qwen3TextPlan(msgspec.Struct, frozen=True, eq=False):
    """A `TextPlan`: the tokens of each pair of prompts in rows of `positions`."""

    encoding: Qwen3Text
    positions: int
    prompts: Mapping[Texts, PromptTokens]

    @property
    def tags(self) -> tuple[NetworkTag, ...]:
        """The extra networks, such as LoRAs, that the prompts name, without duplicates."""
        return tuple(dict.fromkeys(tag for prompt in self.prompts.values() for tag in prompt.tags))

    @property
    def warnings(self) -> tuple[ErrorInfo, ...]:
        """Nothing: names of embeddings are words."""
        return ()

    def embeddings(self, texts: Texts) -> Mapping[str, Embedding]:
        """Return nothing: names of embeddings are words."""
        return {}

    @property
    def networks(self) -> tuple[Network, ...]:
        """The network of the encoder."""
        return (self.encoding.network(self.positions),)

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """Return the number of contexts of a pair of prompts, and the tokens of each."""
        return self.prompts[texts].shape(guided=guided)

    def encode(self, runner: EncoderRunner) -> dict[Texts, Conditioning]:
        """Encode each pair of prompts. Raises EngineError as `EncoderRunner.encode` does."""
        encoding = self.encoding
        config = config_of(encoding.checkpoint, encoding.component, Qwen3Config)
        tool = next(iter(self.prompts.values())).convention.name

        def work(session: Session) -> dict[Texts, PromptEmbeddings]:
            def run_encoder(
                ids: TokenIds, _mask: AttentionMask | None, _places: Insertions | None
            ) -> EncoderOutput:
                are_tokens = _tokens(ids, to_first=tool is ConventionName.COMFY)
                places = place_inputs(config, ids.shape[1], int(are_tokens.sum()))
                states = runner.call(session, {"tokens": ids, **places})["states"]
                if not encoding.keeps_padding:
                    states = np.where(are_tokens[..., np.newaxis], states, 0)
                return EncoderOutput(states)

            return {
                texts: encode(read, run_encoder, rows_at_once=1, weighs_apart=True)
                for texts, read in self.prompts.items()
            }

        found = runner.encode(self.networks[0], work, first_problem)
        return {
            texts: _ContextInputs(PromptConditioning((states,)), encoding.of_context)
            for texts, states in found.items()
        }


def _tokens(ids: TokenIds, *, to_first: bool) -> AttentionMask:
    """Mark the tokens of each row, which end before its padding.

    A text may name the token of padding: with `to_first`, as in ComfyUI (`comfy/sd1_clip.py`,
    `process_tokens`), nothing sees what follows it.
    """
    is_padding = ids == QwenTokenizer.pad_id
    if to_first:
        return ~np.logical_or.accumulate(is_padding, axis=1)
    return np.logical_or.accumulate(~is_padding[:, ::-1], axis=1)[:, ::-1]


@dataclass(slots=True, eq=False)
class _ContextInputs:
    """A `Conditioning` of a context and what is made of it, anew where the context is another."""

    states: PromptConditioning
    of_context: ContextInputs
    _inputs: tuple[object, Mapping[str, Array]] | None = field(default=None, init=False)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each positive prompt."""
        return self.states.weights

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return `context`, and what is made of it."""
        context = self.states.context(evaluation, guided=guided)
        known = self._inputs
        if known is None or known[0] is not context:
            known = self._inputs = (context, {"context": context, **self.of_context(context)})
        return known[1]
