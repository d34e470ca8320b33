"""Writes `frozen/torch.ckpt` with PyTorch itself: `python -m tests.checkpoints.freeze_torch`.

A checkpoint as training tools leave it: weights of several types, among them a shared one and a
parameter, under `state_dict`, beside counters, an optimiser's state and NumPy's scalars.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch

FROZEN = Path(__file__).parent / "frozen" / "torch.ckpt"


def main() -> None:
    """Write the file."""
    ramp = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    tied = ramp.half()[0]
    state = OrderedDict(
        {
            "model.ramp": ramp,
            "model.half": ramp.half(),
            "model.tied": tied,
            "model.again": tied,
            "model.rows": ramp.reshape(6, 4)[2:5],
            "model.parameter": torch.nn.Parameter(ramp[1].bfloat16(), requires_grad=False),
            "model.float8": ramp.to(torch.float8_e4m3fn),
            "model.steps": torch.tensor(7),
            "model.empty": torch.zeros(0, 3),
        }
    )
    whole = {
        "state_dict": state,
        "global_step": 1000,
        "loss": np.float64(0.5),
        "optimizer_states": [{"state": {0: {"exp_avg": torch.ones(3)}}, "lr": 1e-4}],
    }
    FROZEN.parent.mkdir(exist_ok=True)
    torch.save(whole, FROZEN)


if __name__ == "__main__":
    main()
