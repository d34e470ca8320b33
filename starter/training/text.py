"""Trains the text encoder to read captions, before the denoiser uses its features.

CLIP's encoder was trained separately before Stable Diffusion used it. Here classification replaces
CLIP's training: one linear head per attribute reads from the last token which value the caption
states (or that it states none). That makes features linear, and independent of order and synonyms.
"""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

from starter.captions import ATTRIBUTES, Caption, caption
from starter.scenes import COLOURS, KINDS, LANDS, LIGHTS, PLACES, TIMES, Scene, random_scene
from starter.training.common import RUN, Clock, set_up
from starter.training.tokenizer import MAX_LENGTH, load_tokenizer

HIDDEN = 160
BATCH = 96
EMPTY_SHARE = 0.03
PEAK_RATE = 1e-3
VALUES: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "colour": COLOURS,
    "land": LANDS,
    "time": TIMES,
    "place": PLACES,
    "light": LIGHTS,
}


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids [n, 77], and [n, 6] labels of the attributes."""

    ids: torch.Tensor
    labels: torch.Tensor


def new_text_encoder(tokenizer: CLIPTokenizer) -> CLIPTextModel:
    return CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(tokenizer),
            hidden_size=HIDDEN,
            intermediate_size=4 * HIDDEN,
            num_hidden_layers=4,
            num_attention_heads=4,
            max_position_embeddings=MAX_LENGTH,
            hidden_act="quick_gelu",
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            projection_dim=HIDDEN,
        )
    )


def label(scene: Scene, said: Caption) -> list[int]:
    """Return the index of each attribute's value, or the number of values if it is not stated."""
    return [
        VALUES[name].index(getattr(scene, name)) if name in said.stated else len(VALUES[name])
        for name in ATTRIBUTES
    ]


def tokens(tokenizer: CLIPTokenizer, captions: list[str]) -> torch.Tensor:
    """Return ids [n, 77], padded with the end token as in Stable Diffusion."""
    encoded = tokenizer(
        captions, padding="max_length", max_length=MAX_LENGTH, truncation=True, return_tensors="pt"
    )
    return encoded.input_ids


def train_text(minutes: float) -> None:
    """Train for `minutes` from scratch or from `run/text_encoder`, which it writes."""
    set_up(3, threads=1)  # small tensors: more threads would only wait for each other
    tokenizer, folder = load_tokenizer(), RUN / "text_encoder"
    text = CLIPTextModel.from_pretrained(folder) if folder.exists() else new_text_encoder(tokenizer)
    heads = nn.ModuleList(nn.Linear(HIDDEN, len(VALUES[name]) + 1) for name in ATTRIBUTES)
    parameters = [*text.parameters(), *heads.parameters()]
    optimizer = torch.optim.AdamW(parameters, weight_decay=0.01)
    rng, clock, step = random.Random(11), Clock(60 * minutes), 0
    text.train()
    while (done := clock.done) < 1:
        optimizer.param_groups[0]["lr"] = PEAK_RATE * min(1, (step + 1) / 100) * (1 - done)
        batch = _batch(tokenizer, rng)
        losses, right = _losses(text, heads, batch)
        optimizer.zero_grad()
        losses.sum().backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1)
        optimizer.step()
        step += 1
        if step % 50 == 0:
            accuracy = ", ".join(
                f"{n} {r:.3f}" for n, r in zip(ATTRIBUTES, right.tolist(), strict=True)
            )
            print(f"{step} {clock.spent:.0f} s, {accuracy}", flush=True)
    text.save_pretrained(folder)


def _batch(tokenizer: CLIPTokenizer, rng: random.Random) -> Tokens:
    scenes = [random_scene(rng) for _ in range(BATCH)]
    captions = [
        Caption("", frozenset()) if rng.random() < EMPTY_SHARE else caption(scene, rng)
        for scene in scenes
    ]
    labels = [label(scene, said) for scene, said in zip(scenes, captions, strict=True)]
    return Tokens(tokens(tokenizer, [c.text for c in captions]), torch.tensor(labels))


def _losses(
    text: CLIPTextModel, heads: nn.ModuleList, batch: Tokens
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropy of each head, and its accuracy, both [6].

    Read from the first end token or from one of the padding tokens: the denoiser attends to all 77,
    and the padding should carry the caption as well.
    """
    with torch.autocast("cpu", torch.bfloat16):
        states = text(input_ids=batch.ids).last_hidden_state.float()
    end = (batch.ids == text.config.eos_token_id).int().argmax(dim=1)
    spread = torch.rand(len(end)) * (torch.rand(len(end)) < 0.5)
    at = end + (spread * (MAX_LENGTH - end)).long()
    pooled = states[torch.arange(len(end)), at]
    scores = [head(pooled) for head in heads]
    truth = batch.labels.unbind(dim=1)
    losses = [functional.cross_entropy(s, t) for s, t in zip(scores, truth, strict=True)]
    right = [(s.argmax(1) == t).float().mean() for s, t in zip(scores, truth, strict=True)]
    return torch.stack(losses), torch.stack(right)
