"""The operators that a compiler runs best, by which the engine writes a network's graph."""

import msgspec

from backends.elements import DType, Precision
from backends.forms import (
    AttentionForm,
    BlockForm,
    GegluForm,
    GeluForm,
    GroupNormForm,
    LayerNormForm,
    Layout,
    LinearForm,
    ResidualForm,
    UpsamplingForm,
)


class AttentionKernels(msgspec.Struct, frozen=True):
    """The element types and head widths that a compiler has attention kernels for."""

    elements: tuple[DType, ...]
    # The smallest and the largest width of a head.
    head_widths: tuple[int, int]

    def serve(self, element: DType, head_width: int) -> bool:
        """True if there is a kernel for attention of this width in this type."""
        narrowest, widest = self.head_widths
        return element in self.elements and narrowest <= head_width <= widest


# The layers, or segments of layers, whose weights are on a device at once beside those that stay
# there: one computes while the next is read.
IN_FLIGHT = 2


class Streaming(msgspec.Struct, frozen=True):
    """A runtime's way to stream weights to its device in each run (`Graph.room_bytes`).

    It streams those of networks that take more than `least_share` of the device's memory.
    """

    least_share: float = 0.0
    # True if the rows of tables of tokens are looked up on the host, where the tables stay.
    tables_on_host: bool = False
    # True if the host holds all weights of such a network, in memory of its own.
    copies_on_host: bool = False

    def serves(self, nbytes: int, total_bytes: int) -> bool:
        """Return True for a network with these bytes of weights on a device of this memory."""
        return nbytes > self.least_share * total_bytes


class OperatorSet(msgspec.Struct, frozen=True):
    """The forms of ONNX operators that a compiler runs best, and the weight types it takes.

    Raises ValueError for forms that cannot be combined.
    """

    opset: int
    # Element types of weights and activations it takes; always includes F32.
    elements: tuple[DType, ...] = (DType.F32,)
    # True if the compiler computes in the graph's element type, which must then equal the requested
    # precision.
    strongly_typed: bool = False
    attention: AttentionForm = AttentionForm.PRIMITIVE
    # The cases that use `attention`; all others use primitive attention. None: all cases.
    attention_kernels: AttentionKernels | None = None
    # True if fused attention takes queries and keys whose heads are wider than those of values.
    wide_keys: bool = False
    group_norm: GroupNormForm = GroupNormForm.INSTANCE
    gelu: GeluForm = GeluForm.ERF
    linear: LinearForm = LinearForm.TRANSPOSE_MATMUL
    upsampling: UpsamplingForm = UpsamplingForm.RESIZE
    layout: Layout = Layout.PLANES
    layer_norm: LayerNormForm = LayerNormForm.STANDARD
    geglu: GegluForm = GegluForm.HALVES
    residual: ResidualForm = ResidualForm.ADD
    # The form in which quantised weights of linear layers stay small in the runtime's memory. None:
    # they get the graph's element type.
    blocks: BlockForm | None = None
    # True if the runtime multiplies with blocks as they are, and holds their scales in 32 bits;
    # else it makes a layer as wide as its numbers while it runs.
    multiplies_blocks: bool = False
    # The precisions in which the offsets of blocks, where they have some, are a product of their
    # own beside that with the blocks.
    offsets_apart: frozenset[Precision] = frozenset()
    # The precisions in which blocks of 16 integers of 8 bits are joined to blocks of 32, since the
    # runtime rounds what it multiplies with them, and quicker in runs of 32.
    joined_blocks: frozenset[Precision] = frozenset()
    # True if the runtime can read weights where they are (`Graph.in_place`).
    reads_in_place: bool = False
    # None: the runtime streams no weights to its device.
    streaming: Streaming | None = None

    def __post_init__(self) -> None:
        planes = self.layout is Layout.PLANES
        if planes and self.group_norm is GroupNormForm.FUSED:
            raise ValueError("fused group normalisation wants channels last")
        if not planes and self.upsampling is UpsamplingForm.TRANSPOSED:
            raise ValueError("transposed convolutions are written on planes")
