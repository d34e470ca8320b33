"""The operators of diffusion networks, each in the form that the backend's compiler runs best.

Networks call these and never ask for the vendor. The backend's `OperatorSet` says which operators
its runtime has; `benchmarks/` measures which form is faster. `layers` has the layers of
transformers and text encoders, `images` those of pictures, `attention` attention. `deferred_sums`
delays additions so that a fused normalisation can take them in; `limits` says which sizes the fused
kernels support.
"""

from engine.graphs.operators.attention import AttentionWriter
from engine.graphs.operators.images import ImageWriter

__all__ = ["GraphBuilder"]


class GraphBuilder(ImageWriter, AttentionWriter):
    """A `NodeWriter` with the operators of diffusion networks.

    Images are in the layout of the operator set; `from_planes` and `to_planes` convert from and to
    [batch, channels, height, width]. Tokens are [batch, tokens, width]. A layer's weights are
    `<name>.weight` and `<name>.bias`.
    """
