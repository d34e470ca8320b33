"""sd-webui-controlnet's "reference_only" on diffusers' UNets, by the rule of `scripts/hook.py`.

Written for these tests, with hooks on the self-attentions of the unchanged UNet.
"""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from collections.abc import Callable

import torch
from diffusers.models.attention import BasicTransformerBlock

from backends.base import Array


class ReferenceOnly:
    """Makes a pipeline's UNet attend to a reference picture, uint8 [height, width, 3].

    `noise` returns that of an evaluation. `acts` tells of one whether it is within the range. The
    first rows of a batch are those of the negative prompt, half of it.
    """

    def __init__(
        self,
        pipe,
        picture: Array,
        noise: Callable[[int], Array],
        fidelity: float = 0.5,
        weight: float = 1.0,
        acts: Callable[[int], bool] = lambda evaluation: True,
    ) -> None:
        samples = torch.from_numpy(picture).float().permute(2, 0, 1)[None] / 127.5 - 1
        with torch.no_grad():
            encoded = pipe.vae.encode(samples).latent_dist.mean
        self.latent = encoded * pipe.vae.config.scaling_factor
        self.alphas = pipe.scheduler.alphas_cumprod
        self.noise, self.fidelity, self.weight, self.acts = noise, fidelity, weight, acts
        self.evaluations = 0
        self.writes, self.bank = False, {}
        self.plain = pipe.unet.forward
        blocks = [
            *pipe.unet.down_blocks.modules(),
            *pipe.unet.mid_block.modules(),
            *pipe.unet.up_blocks.modules(),
        ]
        blocks = [block for block in blocks if isinstance(block, BasicTransformerBlock)]
        blocks.sort(key=lambda block: -block.norm1.normalized_shape[0])
        for place, block in enumerate(blocks):
            self._hook(block.attn1, place / len(blocks))
        pipe.unet.forward = self.forward

    def forward(self, sample, timestep, *given, **named):
        evaluation, self.evaluations = self.evaluations, self.evaluations + 1
        if self.acts(evaluation):
            alpha = self.alphas[int(torch.round(torch.as_tensor(timestep).float()))]
            noise = torch.from_numpy(self.noise(evaluation))
            noised = alpha.sqrt() * self.latent + (1 - alpha).sqrt() * noise
            self.writes = True
            self.plain(noised.repeat(len(sample), 1, 1, 1), timestep, *given, **named)
            self.writes = False
        found = self.plain(sample, timestep, *given, **named)
        self.bank.clear()
        return found

    def _hook(self, attention, share: float) -> None:
        plain = attention.forward

        def forward(x, encoder_hidden_states=None, **named):
            assert encoder_hidden_states is None
            if self.writes:
                if self.weight > share:
                    self.bank[attention] = x
                return plain(x, **named)
            if attention not in self.bank:
                return plain(x, **named)
            both = plain(x, encoder_hidden_states=torch.cat([x, self.bank[attention]], 1), **named)
            if self.fidelity <= 1e-5 or len(x) == 1:
                return both
            faithful, negatives = both.clone(), len(x) // 2
            faithful[:negatives] = plain(x[:negatives], encoder_hidden_states=x[:negatives])
            return self.fidelity * faithful + (1 - self.fidelity) * both

        attention.forward = forward
