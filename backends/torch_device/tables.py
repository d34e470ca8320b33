"""Tables that stay on the host where weights are streamed: a run copies the rows that it looks up.

A text encoder's table of tokens is as large as many of its layers, and a prompt reads a few
hundred rows of it.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false
# (torch is absent from the environment that is type-checked)

from collections.abc import Mapping, Sequence

import torch

from backends.base import WeightRef
from backends.torch_device.plan import Step

# Smaller tables are not worth a copy in each run.
_LEAST_BYTES = 1 << 20


def tables_on_host(steps: Sequence[Step], weights: Mapping[str, WeightRef]) -> frozenset[str]:
    """Return the names of matrices of a megabyte or more of which all steps only look rows up."""
    looked_up = {step.inputs[0] for step in steps if _looks_rows_up(step)}
    read = {
        name
        for step in steps
        for place, name in enumerate(step.inputs)
        if place > 0 or not _looks_rows_up(step)
    }
    return frozenset(
        name
        for name in looked_up - read
        if name in weights
        and len(weights[name].shape) == 2
        and weights[name].nbytes >= _LEAST_BYTES
    )


def rows_of(table: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """Return the rows of a matrix on the host: [..., columns] for numbers of any shape."""
    # Through bytes: NumPy does not know torch's bfloat16.
    raw = table.view(torch.uint8).numpy()
    return torch.from_numpy(raw[numbers.to("cpu").numpy()]).view(table.dtype)


def _looks_rows_up(step: Step) -> bool:
    return step.kind == "Gather" and step.attributes.get("axis", 0) == 0
