"""Diffusers' UNet on a graphics processor, channels last, with or without torch.compile."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from diffusers import UNet2DConditionModel

from benchmarks.child import Answer
from benchmarks.peers.timing import timed

_DTYPES = {"f32": torch.float32, "f16": torch.float16}
_TOKENS = 77


class DiffusersGpu:
    """The UNet of a diffusers folder; `compiled` lets torch.compile write its kernels."""

    def __init__(
        self,
        configuration: str,
        precision: str,
        device: str = "cuda",
        compiled: bool = False,
        size: int = 512,
    ) -> None:
        self._device, self._dtype, self._cells = device, _DTYPES[precision], size // 8
        unet: Any = UNet2DConditionModel.from_pretrained(
            configuration, subfolder="unet", torch_dtype=self._dtype
        )
        self._config = unet.config
        self._unet = unet.eval().to(device, memory_format=torch.channels_last)
        if compiled:
            self._unet = torch.compile(self._unet, mode="max-autotune", fullgraph=True)

    @torch.inference_mode()
    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run one guided "step" of `pictures` pictures, or return torch's peak "memory" (bytes)."""
        cuda = self._device.startswith("cuda")
        if task == "memory":
            return {"bytes": torch.cuda.max_memory_reserved() if cuda else 0}
        pictures, config = options["pictures"], self._config
        random = np.random.default_rng(0)
        shape = (pictures, config.in_channels, self._cells, self._cells)
        sample = self._moved(random.standard_normal(shape, np.float32))
        width = config.cross_attention_dim
        context = self._moved(random.standard_normal((2 * pictures, _TOKENS, width), np.float32))
        time = torch.tensor([500.0], device=self._device)

        def run() -> np.ndarray:
            result = self._unet(torch.cat([sample] * 2), time, context).sample
            return result.float().cpu().numpy()  # waits for the device

        return timed(run, options)

    def _moved(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self._device, self._dtype)
