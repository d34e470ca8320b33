"""The operators of diffusion networks, each written in the form the backend's compiler runs best.

Networks call these and never ask which vendor. Which form pays where is measured in
`benchmarks/`; which operators a runtime has is in its backend's `OperatorSet`. `sums` holds sums
back until what reads them is known, `layers` has what transformers and text encoders are made of,
`images` what works on pictures, `attention` attention; `limits` says what a fused kernel refuses,
which is then written plainly.
"""

from engine.graphs.operators.attention import AttentionWriter
from engine.graphs.operators.images import ImageWriter

__all__ = ["GraphBuilder"]


class GraphBuilder(ImageWriter, AttentionWriter):
    """A `NodeWriter` that speaks the vocabulary of diffusion networks.

    Images are in the layout of the operator set; `from_planes` and `to_planes` bring [batch,
    channels, height, width] in and out. Tokens are [batch, tokens, width]. A layer's weights are
    `<name>.weight` and `<name>.bias`.
    """
