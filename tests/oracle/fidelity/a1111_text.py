"""A1111's prompts in a few lines of torch: chunks of 75, weights, scheduled texts.

After `sd_hijack_clip.py`, `sd_emphasis.py`, `prompt_parser.py` and `sd_samplers_cfg_denoiser.py` of
https://github.com/AUTOMATIC1111/stable-diffusion-webui/tree/v1.10.1/modules
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from dataclasses import dataclass
from typing import Any

import torch

from tests.oracle.fidelity.networks import Networks
from tests.oracle.fidelity.picture import Fragment, Part, Picture

_LENGTH, _BACKTRACK = 75, 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """77 tokens and their weights."""

    tokens: list[int]
    weights: list[float]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The context of one prompt, [T, width], by the evaluation it ends after."""

    weight: float
    stages: list[tuple[int, Any]]

    def at(self, evaluation: int) -> Any:
        """The text's vectors for the evaluation of this number, from 0."""
        return next((value for end, value in self.stages if evaluation <= end), self.stages[0][1])


class TextEncoder:
    """The texts of one picture."""

    def __init__(self, networks: Networks, picture: Picture) -> None:
        self.networks, self.picture = networks, picture
        self.end = networks.tokenizer.eos_token_id
        self.start = networks.tokenizer.bos_token_id
        self.comma = networks.tokenizer.get_vocab().get(",</w>")

    def scheduled(self, part: Part) -> Scheduled:
        """Encode all stages of a prompt in one batch, as A1111 does: emphasis keeps its mean."""
        rows = [self._chunks(fragments) for _, fragments in part.stages]
        count = max(len(chunks) for chunks in rows)
        empty = Chunk(*self._closed([], []))
        encoded = []
        for place in range(count):
            batch = [chunks[place] if place < len(chunks) else empty for chunks in rows]
            encoded.append(self._encode(batch))
        values = torch.cat(encoded, dim=1)
        ends = [end for end, _ in part.stages]
        return Scheduled(part.weight, list(zip(ends, values, strict=True)))

    def empty(self) -> Any:
        """One chunk of an empty prompt [77, width], which padding appends."""
        return self._encode([Chunk(*self._closed([], []))])[0]

    def _encode(self, batch: list[Chunk]) -> Any:
        z = self.networks.encode([chunk.tokens for chunk in batch], self.picture.clip_skip)
        weights = torch.tensor([chunk.weights for chunk in batch])[..., None]
        if self.picture.emphasis == "none":
            return z
        weighed = z * weights
        if self.picture.emphasis == "no_norm":
            return weighed
        return weighed * (z.mean() / weighed.mean())

    def _chunks(self, fragments: tuple[Fragment, ...]) -> list[Chunk]:
        finished: list[Chunk] = []
        tokens: list[int] = []
        weights: list[float] = []
        comma = -1
        for text, weight in fragments:
            if text is None:
                finished.append(Chunk(*self._closed(tokens, weights)))
                tokens, weights, comma = [], [], -1
                continue
            for token in self.networks.tokens(text):
                full = len(tokens) == _LENGTH
                if token == self.comma:
                    comma = len(tokens)
                elif full and comma != -1 and len(tokens) - comma <= _BACKTRACK:
                    cut = comma + 1
                    finished.append(Chunk(*self._closed(tokens[:cut], weights[:cut])))
                    tokens, weights, comma = tokens[cut:], weights[cut:], -1
                if len(tokens) == _LENGTH:
                    finished.append(Chunk(*self._closed(tokens, weights)))
                    tokens, weights, comma = [], [], -1
                tokens, weights = [*tokens, token], [*weights, weight]
        if tokens or not finished:
            finished.append(Chunk(*self._closed(tokens, weights)))
        return finished

    def _closed(self, tokens: list[int], weights: list[float]) -> tuple[list[int], list[float]]:
        missing = _LENGTH - len(tokens)
        return (
            [self.start, *tokens, *[self.end] * missing, self.end],
            [1.0, *weights, *[1.0] * missing, 1.0],
        )


def stacked(vectors: list[Any]) -> Any:
    """Prompts joined by AND in one batch: the shorter repeat their last vector."""
    length = max(len(value) for value in vectors)
    return torch.stack(
        [
            torch.cat([value, value[-1:].repeat(length - len(value), 1)])
            if len(value) < length
            else value
            for value in vectors
        ]
    )
