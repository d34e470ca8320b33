"""Encoding prompts with the T5 encoder of a checkpoint: tokenizing first, then running."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from backends.base import Session
from engine.api.methods import SAMPLER_FACTS
from engine.api.record import ResolvedRequest
from engine.compile.network import Network
from engine.families.architecture import Texts, distinct_texts
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.running import EncoderRunner
from engine.families.shared.component_network import config_of
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
from engine.families.shared.t5.network import t5_network
from engine.graphs.t5 import T5Config, position_buckets
from engine.text.reading import read_prompts
from engine.text.whole_rows import LEAST_POSITIONS, cuts_rows, rows_for


@dataclass(frozen=True, slots=True, eq=False)
class T5Text:
    """The T5 encoder of a checkpoint, which attends to padding as its tools let it.

    `positions` is the number of positions that the denoiser was trained with. Where it
    `embeds_guidance`, the negative prompt acts by the true CFG scale.
    """

    checkpoint: IdentifiedCheckpoint
    component: Component
    positions: int
    embeds_guidance: bool = False
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: dict[int, Network] = field(default_factory=dict[int, Network], init=False)

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        drawn: int | None,
        *,
        least: int = LEAST_POSITIONS,
    ) -> "T5TextPlan":
        """Tokenize the prompts of requests; see `TextEncoding.read`.

        `least` is the least positions of a row that is not cut.
        """
        request = requests[0]
        times = request.steps * SAMPLER_FACTS[request.sampler].evaluations
        true_cfg, guidance = request.guidance_options.true_cfg, request.guidance
        guided = (true_cfg if self.embeds_guidance else guidance) != 1
        readings = {
            texts: read_prompts(texts, request.convention, times, guided=guided, drawn=drawn)
            for texts in distinct_texts(requests)
        }
        every = [reading for pair in readings.values() for reading in pair if reading is not None]
        layout = rows_for(every, request.convention, self.positions, least=least)
        prompts = {
            texts: plan_rows(*pair, layout, request.convention, wants_empty=False)
            for texts, pair in readings.items()
        }
        usual = self.positions if cuts_rows(request.convention) else least
        return T5TextPlan(self, usual, prompts)

    def network(self, positions: int) -> Network:
        """Return the network for rows of usually so many positions, the same object each time."""
        if positions not in self._networks:
            least = min(LEAST_POSITIONS, positions)
            self._networks[positions] = t5_network(
                self.checkpoint, self.component, positions, least=least
            )
        return self._networks[positions]


class T5TextPlan(msgspec.Struct, frozen=True, eq=False):
    """The tokens of each pair of prompts; `positions` is the usual number of a row."""

    encoding: T5Text
    positions: int
    prompts: Mapping[Texts, PromptTokens]

    @property
    def network(self) -> Network:
        """The network of the encoder."""
        return self.encoding.network(self.positions)

    def encode(self, runner: EncoderRunner) -> dict[Texts, PromptEmbeddings]:
        """Encode each pair of prompts. Raises EngineError as `EncoderRunner.encode` does."""
        checkpoint, component = self.encoding.checkpoint, self.encoding.component
        buckets = config_of(checkpoint, component, T5Config).buckets

        def work(session: Session) -> dict[Texts, PromptEmbeddings]:
            def run_encoder(
                ids: TokenIds, _mask: AttentionMask | None, _places: Insertions | None
            ) -> EncoderOutput:
                feeds = {"tokens": ids, "buckets": position_buckets(ids.shape[1], buckets)}
                return EncoderOutput(runner.call(session, feeds)["last_hidden_state"])

            return {
                # One row at a time: the scores of 512 positions in 64 heads take 67 MB.
                texts: encode(read, run_encoder, rows_at_once=1, weighs_apart=True)
                for texts, read in self.prompts.items()
            }

        return runner.encode(self.network, work, first_problem)
