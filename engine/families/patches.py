"""The changes that LoRAs make to the networks of a checkpoint."""

from collections.abc import Mapping

import msgspec

from engine.weights.patched import Patch
from engine.weights.side_branches import SideBranches


class ComponentPatches(msgspec.Struct, frozen=True, eq=False):
    """The changes to one component.

    `content` is the digest of the content of the LoRAs' files. `merged` is added to the weights, by
    canonical name; `branches` run beside the layers, at these `strengths` or, where there are none,
    at strengths that the pipeline gives to each run.
    """

    content: str
    merged: Mapping[str, tuple[Patch, ...]]
    branches: SideBranches | None = None
    strengths: tuple[float, ...] = ()

    @property
    def branch_bytes(self) -> int:
        """The bytes of the factors of the side branches."""
        return self.branches.nbytes if self.branches else 0

    @property
    def acts(self) -> bool:
        """True unless nothing is changed."""
        return any(self.merged.values()) or self.branches is not None
