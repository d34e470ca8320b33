"""Encoding prompts with the CLIP text encoders of a checkpoint: tokenizing first, then running."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec
import numpy as np

from backends.base import Array, Session
from engine.api.methods import SAMPLER_FACTS
from engine.api.prompt_rules import Chunking
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorInfo
from engine.compile.network import Network
from engine.embeddings.embedding import Embedding, Encoder
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.architecture import Conditioning, Texts, distinct_texts
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.running import EncoderRunner
from engine.families.shared.clip.insertions import (
    encoders_of,
    insertion_feeds,
    last_vectors,
)
from engine.families.shared.clip.network import text_encoder, text_encoders
from engine.families.shared.clip.text_use import TextUse
from engine.families.shared.prompts.conditioning import PooledInputs, PromptConditioning
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
    tokenize_prompts,
)
from engine.text.chunks import first_end, zero_filled
from engine.text.cleaning import cleaner
from engine.text.embedded import EmbeddingReader, EmbeddingUse
from engine.text.tags import NetworkTag
from engine.text.tokenizers import ClipTokenizer, tokenizer_of
from engine.weights.side_branches import STRENGTHS, pin_branches

# The tokens of a pair of prompts, by text encoder.
Tokens = Mapping[Component, PromptTokens]
# Clip skip, final norm (True if applied), attention mask (True if some tokens are masked out),
# insertions (True if vectors of embeddings replace tokens).
_Variant = tuple[int, bool, bool, bool]


@dataclass(frozen=True, slots=True, eq=False)
class ClipText:
    """A `TextEncoding` with one or two CLIP text encoders side by side.

    `use` is the form in which the denoiser takes texts. `pooled_inputs` makes the inputs of a
    denoiser that takes pooled texts, too.
    """

    checkpoint: IdentifiedCheckpoint
    use: TextUse
    pooled_inputs: PooledInputs | None = None
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: dict[tuple[Component, _Variant], Network] = field(
        default_factory=dict[tuple[Component, _Variant], Network], init=False
    )
    _tokenizer: list[ClipTokenizer] = field(default_factory=list[ClipTokenizer], init=False)

    @property
    def components(self) -> tuple[Component, ...]:
        """The checkpoint's text encoders, in the order they run."""
        return text_encoders(self.checkpoint)

    @property
    def encoders(self) -> Mapping[Component, Encoder]:
        """The text encoders as embeddings are made for them."""
        return encoders_of(self.checkpoint)

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        embeddings: Embeddings = NO_EMBEDDINGS,
        drawn: int | None = None,
    ) -> "ClipTextPlan":
        """Tokenize the prompts, and read the embeddings that they name.

        Raises EngineError(REQUEST_INVALID).
        """
        request, tokenizers = requests[0], self._tokenizers(requests[0])
        readers = self._readers(request, tokenizers, embeddings)
        prompts = {
            texts: self._read(texts, request, tokenizers, readers, drawn)
            for texts in distinct_texts(requests)
        }
        return ClipTextPlan(self, requests[0], tokenizers, prompts)

    def network(
        self,
        component: Component,
        clip_skip: int,
        *,
        final_norm: bool = True,
        masked: bool = False,
        inserting: bool = False,
    ) -> Network:
        """Return the network of a text encoder, the same object each time; see `text_encoder`.

        The family's `TextUse.final_norm` takes precedence over `final_norm` unless it is None.
        """
        normalises = final_norm if self.use.final_norm is None else self.use.final_norm
        key = component, (clip_skip, normalises, masked, inserting)
        if key not in self._networks:
            self._networks[key] = text_encoder(
                self.checkpoint,
                clip_skip,
                component,
                final_norm=normalises,
                masked=masked,
                inserting=inserting,
                pools_states=component in self.use.pools_states,
            )
        return self._networks[key]

    def _tokenizers(self, request: ResolvedRequest) -> dict[Component, ClipTokenizer]:
        if not self._tokenizer:
            self._tokenizer.append(tokenizer_of(self.checkpoint.tokenizer))
        return {
            component: _tokenizer_for(component, self._tokenizer[0], self.use, request)
            for component in self.components
        }

    def _readers(
        self,
        request: ResolvedRequest,
        tokenizers: Mapping[Component, ClipTokenizer],
        embeddings: Embeddings,
    ) -> dict[Component, EmbeddingReader]:
        """Return a reader for each encoder; none if there is no embedding to be named."""
        spellings, encoders = request.convention.embedding_spellings, self.encoders
        if embeddings is NO_EMBEDDINGS or not spellings:
            return {}
        everyone = tuple(encoders.values())
        return {
            component: EmbeddingReader(
                tokenizer, EmbeddingUse(encoders[component], everyone, spellings, embeddings)
            )
            for component, tokenizer in tokenizers.items()
        }

    def _read(
        self,
        texts: Texts,
        request: ResolvedRequest,
        tokenizers: Mapping[Component, ClipTokenizer],
        readers: Mapping[Component, EmbeddingReader],
        drawn: int | None,
    ) -> dict[Component, PromptTokens]:
        # Prompts that change during the run are timed by evaluations of the denoiser.
        evaluations = request.steps * SAMPLER_FACTS[request.sampler].evaluations
        # Encoders with the same tokenizer share the tokens, if no embedding may differ for them.
        read: dict[tuple[int, int], PromptTokens] = {}
        found: dict[Component, PromptTokens] = {}
        for component, tokenizer in tokenizers.items():
            reader = readers.get(component)
            key = id(tokenizer), id(reader)
            if key not in read:
                read[key] = tokenize_prompts(
                    *texts, tokenizer, request.convention, evaluations, reader, drawn
                )
            found[component] = read[key]
        return found


class ClipTextPlan(msgspec.Struct, frozen=True, eq=False):
    """A `TextPlan` for CLIP text encoders; `prompts` has the tokens of each pair of prompts."""

    encoding: ClipText
    request: ResolvedRequest
    tokenizers: Mapping[Component, ClipTokenizer]
    prompts: Mapping[Texts, Tokens]

    @property
    def tags(self) -> tuple[NetworkTag, ...]:
        """The extra networks, such as LoRAs, that the prompts name, without duplicates."""
        tags = (tag for texts in self.prompts for tag in self._first(texts).tags)
        return tuple(dict.fromkeys(tags))

    @property
    def warnings(self) -> tuple[ErrorInfo, ...]:
        """Warnings about embeddings that the prompts name, without duplicates."""
        every = (tokens for read in self.prompts.values() for tokens in read.values())
        warnings = {error.message: error for tokens in every for error in tokens.warnings}
        return tuple(warnings.values())

    def embeddings(self, texts: Texts) -> Mapping[str, Embedding]:
        """Return the embeddings that a pair of prompts uses, by the names they are called."""
        found: dict[str, Embedding] = {}
        for tokens in self.prompts[texts].values():
            found |= {
                name: embedding for name, embedding in tokens.used.items() if name not in found
            }
        return found

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks of the text encoders that `encode` runs, in that order."""
        return tuple(map(self._network, self.tokenizers))

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """Return the number of contexts of a pair of prompts, and the tokens of each."""
        return self._first(texts).shape(guided=guided)

    def encode(self, runner: EncoderRunner) -> dict[Texts, Conditioning]:
        """Encode each pair of prompts with each text encoder."""
        return {
            texts: PromptConditioning(found, self.encoding.pooled_inputs)
            for texts, found in self.encode_each(runner).items()
        }

    def encode_each(self, runner: EncoderRunner) -> dict[Texts, tuple[PromptEmbeddings, ...]]:
        """Return each pair of prompts as each text encoder encodes it, in order."""
        found = [self._encode_with(component, runner) for component in self.tokenizers]
        return {
            texts: tuple(self._without_empty(texts, embed[texts]) for embed in found)
            for texts in self.prompts
        }

    def _first(self, texts: Texts) -> PromptTokens:
        """Return a pair of prompts as tokens of the first text encoder."""
        return next(iter(self.prompts[texts].values()))

    def _network(self, component: Component) -> Network:
        request = self.request
        return self.encoding.network(
            component,
            request.clip_skip,
            final_norm=request.convention.final_norm,
            masked=self._masked,
            inserting=self._inserts(component),
        )

    def _inserts(self, component: Component) -> bool:
        """Tell whether vectors of embeddings replace tokens of a text encoder."""
        return any(read[component].inserted is not None for read in self.prompts.values())

    @property
    def _masked(self) -> bool:
        """Tell whether an attention mask is needed, because some tokens are masked out."""
        return any(self._first(texts).attention_mask is not None for texts in self.prompts)

    def _encode_with(
        self, component: Component, runner: EncoderRunner
    ) -> dict[Texts, PromptEmbeddings]:
        network = self._network(component)

        def work(session: Session) -> dict[Texts, PromptEmbeddings]:
            pin_branches(session, network.branches)
            if network.branches is not None:
                patches = self.encoding.checkpoint.patches[component]
                session.pin(STRENGTHS, network.branches.strengths(patches.strengths))
            inputs = frozenset(spec.name for spec in session.inputs)

            def run_encoder(
                tokens: PromptTokens,
                ids: TokenIds,
                mask: AttentionMask | None,
                places: Insertions | None,
            ) -> EncoderOutput:
                every = self._feeds(component, ids, mask) | self._insertions(
                    component, tokens, ids, places
                )
                feeds = {name: array for name, array in every.items() if name in inputs}
                outputs = runner.call(session, feeds)
                return EncoderOutput(outputs["last_hidden_state"], outputs.get("pooled"))

            return {
                texts: encode(read[component], partial(run_encoder, read[component]))
                for texts, read in self.prompts.items()
            }

        return runner.encode(network, work, first_problem)

    def _feeds(
        self, component: Component, ids: TokenIds, mask: AttentionMask | None
    ) -> dict[str, Array]:
        """Return the inputs for tokens: `tokens` and `attention_mask`."""
        zero_padded = component in self.encoding.use.zero_padded
        shown = np.ones(ids.shape, np.bool_) if mask is None else mask
        return {
            "tokens": zero_filled(ids, self.tokenizers[component].end_id) if zero_padded else ids,
            "attention_mask": shown.astype(np.float32),
        }

    def _insertions(
        self,
        component: Component,
        tokens: PromptTokens,
        ids: TokenIds,
        places: Insertions | None,
    ) -> dict[str, Array]:
        """Return the inputs for embeddings: `inserted`, `is_inserted` and the pooled `end`."""
        end = first_end(ids, self.tokenizers[component].end_id)
        pools_added = self.request.convention.pools_added_token
        feeds = {"end": last_vectors(end, places) if pools_added else end}
        if not self._inserts(component):
            return feeds
        encoder = self.encoding.encoders[component]
        return feeds | insertion_feeds(ids.shape, places, tokens.vectors, encoder)

    def zeroes_negative(self, texts: Texts) -> bool:
        """Tell whether the negative prompt of a pair is all zeros, since it is empty."""
        family, convention = self.encoding.use, self.request.convention
        knows = convention.name in family.zeroes_empty
        return knows and convention.zeroes_empty_negative and not texts[1]

    def _without_empty(self, texts: Texts, embeddings: PromptEmbeddings) -> PromptEmbeddings:
        return embeddings.without_negative() if self.zeroes_negative(texts) else embeddings


def clip_text_of(checkpoint: IdentifiedCheckpoint) -> ClipText:
    """Return the text encoding of a checkpoint. Raises TypeError for one without CLIP."""
    text = checkpoint.architecture.text
    if not isinstance(text, ClipText):
        raise TypeError(f"{checkpoint.path.name} has {type(text).__name__}")
    return text


def _tokenizer_for(
    component: Component,
    tokenizer: ClipTokenizer,
    use: TextUse,
    request: ResolvedRequest,
) -> ClipTokenizer:
    """Return an encoder's tokenizer, which cleans and pads texts as the convention's tool does.

    Some encoders are padded with token 0, which is also CLIP's word "!". diffusers uses the
    encoder's own tokenizer, which treats every "!" as padding. A1111 and ComfyUI pad the tokens
    themselves and treat "!" as text.
    """
    # The encoders padded with token 0 are OpenCLIP's.
    zero_padded = component in use.zero_padded
    if zero_padded:
        is_asked = request.convention.chunking is Chunking.CUT
        tokenizer = tokenizer.filling_with_zero() if is_asked else tokenizer.filling_with_end()
    return tokenizer.cleaning(cleaner(request.convention.text_cleaning, open_clip=zero_padded))
