"""The conditioning from one or more text encoders, concatenated (Podell et al. 2023, 2.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from backends.base import Array
from engine.api.record import ResolvedRequest
from engine.families.shared.prompts.emphasis import Embeddings
from engine.families.shared.prompts.prompt_embeddings import PromptEmbeddings, same_arrays


class PooledInputs(Protocol):
    """Makes the additional inputs of a denoiser that takes pooled texts."""

    def __call__(
        self, request: ResolvedRequest, pooled: Embeddings, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return the inputs by name, [contexts, ...] each, from pooled texts [contexts, width]."""
        ...


@dataclass(slots=True, eq=False)
class PromptConditioning:
    """A `Conditioning` from text encoders; each prompt has as many tokens in every encoder."""

    encoders: tuple[PromptEmbeddings, ...]
    pooled_inputs: PooledInputs | None = None
    _context: tuple[tuple[Embeddings, ...], Embeddings] | None = field(default=None, init=False)
    _inputs: tuple[object, Mapping[str, Array]] | None = field(default=None, init=False)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each positive prompt."""
        return self.encoders[0].weights

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return `context`, float32 [contexts, tokens, sum of widths], and the `pooled_inputs`."""
        context = self.context(evaluation, guided=guided)
        size = request.width, request.height, request.size_options
        known = self._inputs
        if known is None or known[1]["context"] is not context or known[0] != size:
            inputs = {"context": context}
            pooled = self.pooled(evaluation, guided=guided)
            if pooled is not None and self.pooled_inputs is not None:
                inputs |= self.pooled_inputs(request, pooled, guided=guided)
            known = self._inputs = (size, inputs)
        return known[1]

    def context(self, evaluation: int, *, guided: bool) -> Embeddings:
        """Join the encoders' embeddings (`PromptEmbeddings.at`) along the width.

        Returns float32 [contexts, tokens, sum of widths].
        """
        found = tuple(encoder.at(evaluation, guided=guided) for encoder in self.encoders)
        if len(found) == 1:
            return found[0]
        known = self._context
        if known is None or not same_arrays(found, known[0]):
            known = self._context = (found, np.concatenate(found, axis=2))
        return known[1]

    def pooled(self, evaluation: int, *, guided: bool) -> Embeddings | None:
        """Return the pooled texts of the first encoder that has any: float32 [contexts, width]."""
        found = (encoder.pooled_at(evaluation, guided=guided) for encoder in self.encoders)
        return next((pooled for pooled in found if pooled is not None), None)
