"""Maps each operator that our emitters write for this backend to torch.

An entry makes a function from a node's attributes; an unknown attribute or value is refused when
the graph is loaded. Host values (`plan`) are tuples.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false
# (torch is absent from the environment that is type-checked)

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from onnx import TensorProto
from torch import Tensor
from torch.nn import functional

from backends.base import BackendError
from backends.torch_device.plan import HostValue, Step

Function = Callable[..., Any]
# ONNX's number for an element type, mapped to torch's type in this graph.
Types = Mapping[int, torch.dtype]
ONNX_TYPES: Types = {
    TensorProto.FLOAT: torch.float32,
    TensorProto.FLOAT16: torch.float16,
    TensorProto.BFLOAT16: torch.bfloat16,
    TensorProto.INT64: torch.int64,
}


def function_of(step: Step, types: Types) -> Function:
    """Return the function of a step. Raises BackendError naming a missing operator."""
    make = OPERATORS.get(step.kind)
    if make is None:
        raise BackendError(f"torch_device has no operator {step.kind}")
    attributes = dict(step.attributes)
    if step.kind == "Cast":
        attributes["to"] = types.get(attributes["to"])
    try:
        return make(**attributes)
    except (TypeError, _UnknownValueError) as error:
        raise BackendError(f"torch_device has {step.kind} in another form: {error}") from error


class _UnknownValueError(Exception):
    """An attribute has a value that torch's operator does not offer."""


def _require(honoured: bool, what: str) -> None:
    if not honoured:
        raise _UnknownValueError(what)


def _plain(function: Function) -> Callable[[], Function]:
    """Return a factory for an operator without attributes."""
    return lambda: function


def _convolution(
    *, kernel_shape: Sequence[int], strides: Sequence[int], pads: Sequence[int], group: int = 1
) -> Function:
    top, left, bottom, right = pads
    stride, rest = tuple(strides), (1, group)
    if (top, left) == (bottom, right):
        return lambda x, w, b=None: functional.conv2d(x, w, b, stride, (top, left), *rest)
    around = (left, right, top, bottom)
    return lambda x, w, b=None: functional.conv2d(functional.pad(x, around), w, b, stride, 0, *rest)


def _transposed_convolution(
    *, kernel_shape: Sequence[int], strides: Sequence[int], pads: Sequence[int]
) -> Function:
    top, left, bottom, right = pads
    _require((top, left) == (bottom, right), f"pads {list(pads)}")
    stride, padding = tuple(strides), (top, left)
    return lambda x, w, b=None: functional.conv_transpose2d(x, w, b, stride, padding)


def _linear(*, transB: int) -> Function:  # noqa: N803 (ONNX Runtime's name)
    _require(transB == 1, "transB 0")
    return functional.linear


def _group_norm(*, num_groups: int, epsilon: float) -> Function:
    return lambda x, scale, bias: functional.group_norm(x, num_groups, scale, bias, epsilon)


def _instance_norm(*, epsilon: float) -> Function:
    return lambda x, scale, bias: functional.instance_norm(x, None, None, scale, bias, eps=epsilon)


def _layer_norm(*, epsilon: float, axis: int = -1) -> Function:
    _require(axis == -1, f"axis {axis}")

    def normalised(x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Tensor:
        return functional.layer_norm(x, scale.shape, scale, bias, epsilon)

    return normalised


def _gelu(*, approximate: bytes | str = "none") -> Function:
    form = approximate.decode() if isinstance(approximate, bytes) else approximate
    _require(form in ("none", "tanh"), f"approximate {form}")
    return lambda x: functional.gelu(x, approximate=form)


def _attention(*, q_num_heads: int, kv_num_heads: int, is_causal: int) -> Function:
    _require(q_num_heads == kv_num_heads, "grouped queries")

    def per_head(x: Tensor) -> Tensor:
        return x.unflatten(-1, (q_num_heads, -1)).transpose(1, 2)

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mixed = functional.scaled_dot_product_attention(
            per_head(q), per_head(k), per_head(v), is_causal=bool(is_causal)
        )
        return mixed.transpose(1, 2).flatten(2)

    return attention


def _multi_head_attention(*, num_heads: int, unidirectional: int = 0) -> Function:
    """Return com.microsoft's MultiHeadAttention: q, k, v apart, or packed on axis 3 of 5."""
    plain = _attention(q_num_heads=num_heads, kv_num_heads=num_heads, is_causal=unidirectional)

    def parts(x: Tensor) -> list[Tensor]:
        """Split [batch, tokens, heads, parts, head_width] into parts [batch, tokens, width]."""
        return [part.flatten(2) for part in x.unbind(3)]

    def attention(q: Tensor, k: Tensor | None = None, v: Tensor | None = None) -> Tensor:
        if k is None:
            return plain(*parts(q))
        return plain(q, *(parts(k) if v is None else (k, v)))

    return attention


def _channels_last_convolution(
    *, kernel_shape: Sequence[int], strides: Sequence[int], pads: Sequence[int]
) -> Function:
    """Return com.microsoft's NhwcConv: channels are the last axis of image and kernel."""
    plain = _convolution(kernel_shape=kernel_shape, strides=strides, pads=pads)

    def convolution(x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        return plain(x.movedim(3, 1), w.movedim(3, 1), b).movedim(1, 3)

    return convolution


def _channels_last_group_norm(
    *, groups: int, epsilon: float, activation: int, channels_last: int = 1
) -> Function:
    """Return com.microsoft's GroupNorm; scale and bias are float32 whatever the image's type."""
    _require(channels_last == 1, "channels first")

    def normalise(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        scale, bias = scale.to(x.dtype), bias.to(x.dtype)
        y = functional.group_norm(x.movedim(3, 1), groups, scale, bias, epsilon).movedim(1, 3)
        return functional.silu(y) if activation else y

    return normalise


def _skip_sum(x: Tensor, skip: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x + skip + bias; skip may be [batch, channels], one number per channel."""
    if skip.dim() < x.dim():
        skip = skip[:, None, None]
    return x + skip if bias is None else x + bias + skip


def _bias_split_gelu(x: Tensor, bias: Tensor) -> Tensor:
    value, gate = (x + bias).chunk(2, -1)
    return value * functional.gelu(gate)


def _reshape(x: Tensor, shape: HostValue) -> Tensor:
    # 0 keeps the input's size, as in ONNX.
    return x.reshape([size or x.shape[axis] for axis, size in enumerate(shape)])


def _shape(*, start: int = 0, end: int | None = None) -> Function:
    return lambda x: tuple(x.shape[start:end])


def _reduced(function: Function) -> Callable[..., Function]:
    """Return a factory for an operator that reduces axes to one number each."""

    def make(*, keepdims: int) -> Function:
        return lambda x, axes: function(x, dim=axes, keepdim=bool(keepdims))

    return make


def _concat(*, axis: int) -> Function:
    return lambda *parts: torch.cat(parts, axis)


def _host_concat(*, axis: int) -> Function:
    return lambda *parts: tuple(value for part in parts for value in part)


def _quotients(x: HostValue, y: HostValue) -> HostValue:
    return tuple(int(a) // int(b) for a, b in zip(x, y, strict=True))


def _products(x: HostValue, y: HostValue) -> HostValue:
    return tuple(a * b for a, b in zip(x, y, strict=True))


def _sums(x: HostValue, y: HostValue) -> HostValue:
    return tuple(a + b for a, b in zip(x, y, strict=True))


def _resize(
    *, mode: str, coordinate_transformation_mode: str, nearest_mode: str = "floor"
) -> Function:
    form = (mode, coordinate_transformation_mode, nearest_mode)
    if form[:2] == ("linear", "half_pixel"):
        return lambda x, _, scales, sizes: functional.interpolate(
            x, sizes[2:], mode="bilinear", align_corners=False
        )
    _require(form == ("nearest", "asymmetric", "floor"), " ".join(form))

    def nearest(x: Tensor, _: None, scales: HostValue | None, sizes: HostValue = ()) -> Tensor:
        wanted = sizes or _scaled(x.shape, scales or ())
        if wanted[1] == x.shape[1]:
            return functional.interpolate(x, wanted[2:], mode="nearest")
        # Channels are last, before and after.
        return functional.interpolate(x.movedim(3, 1), wanted[1:3], mode="nearest").movedim(1, 3)

    return nearest


def _scaled(shape: Sequence[int], scales: HostValue) -> HostValue:
    return tuple(math.floor(size * scale) for size, scale in zip(shape, scales, strict=True))


def _tile(x: Tensor, repeats: HostValue) -> Tensor:
    if any(times != 1 for times in repeats[1:]):
        return x.repeat(tuple(map(int, repeats)))
    # Where the batch alone is repeated, the layout stays.
    return x if repeats[0] == 1 else torch.cat([x] * int(repeats[0]))


def _gather(*, axis: int = 0) -> Function:
    if axis:
        return lambda table, places: table.index_select(axis, places)
    return lambda table, rows: (
        functional.embedding(rows, table) if table.dim() == 2 else table.index_select(0, rows)
    )


def _slice(x: Tensor, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int]) -> Tensor:
    (start,), (end,), (axis,) = starts, ends, axes
    start, end, _ = slice(start, end).indices(x.shape[axis])
    return x.narrow(axis, start, end - start)


def _unsqueeze(x: Tensor, axes: Sequence[int]) -> Tensor:
    (axis,) = axes
    return x.unsqueeze(axis)


def _pixel_shuffle(*, blocksize: int, mode: str) -> Function:
    if mode == "CRD":
        return lambda x: functional.pixel_shuffle(x, blocksize)
    _require(mode == "DCR", f"mode {mode}")
    side = blocksize

    def by_cells(x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        split = x.reshape(batch, side, side, channels // side**2, height, width)
        return split.permute(0, 3, 4, 1, 5, 2).reshape(batch, -1, height * side, width * side)

    return by_cells


def _max_pool(*, kernel_shape: Sequence[int], strides: Sequence[int]) -> Function:
    return lambda x: functional.max_pool2d(x, tuple(kernel_shape), tuple(strides))


def _average_pool(
    *, kernel_shape: Sequence[int], strides: Sequence[int], ceil_mode: int
) -> Function:
    return lambda x: functional.avg_pool2d(
        x, tuple(kernel_shape), tuple(strides), ceil_mode=bool(ceil_mode)
    )


def _grid_sample(*, mode: str, padding_mode: str, align_corners: int) -> Function:
    _require(mode in ("linear", "bilinear"), f"mode {mode}")
    return lambda x, grid: functional.grid_sample(
        x, grid, "bilinear", padding_mode, bool(align_corners)
    )


def _cast(*, to: torch.dtype | None) -> Function:
    _require(to is not None, "to a type that networks do not use")
    return lambda x: x.to(to)


def _into(function: Function, overwriting: Function) -> Callable[[], Function]:
    """Return a factory for an operator of two operands.

    The operator applies `overwriting` if the first operand has the result's size, else `function`.
    """

    def apply(x: Tensor, y: Tensor) -> Tensor:
        fits = x.shape == y.shape or x.shape == torch.broadcast_shapes(x.shape, y.shape)
        return overwriting(x, y) if fits else function(x, y)

    return lambda: apply


def _linear_in_blocks(*, N: int, K: int, bits: int, block_size: int) -> Function:  # noqa: N803
    """Return x W^T for W = scale * (integer - zero) in blocks, made of them anew in each run."""
    _require(bits in (4, 8), f"{bits} bits")
    middle = 1 << (bits - 1)

    def product(x: Tensor, integers: Tensor, scales: Tensor, zeros: Tensor | None = None) -> Tensor:
        if bits == 4:
            integers = torch.stack((integers & 15, integers >> 4), -1)
        numbers = integers.reshape(N, -1, block_size).to(scales.dtype)
        numbers -= middle if zeros is None else zeros.reshape(N, -1, 1)
        numbers *= scales.reshape(N, -1, 1)
        return functional.linear(x, numbers.reshape(N, K))

    return product


OPERATORS: Mapping[str, Callable[..., Function]] = {
    "Abs": _plain(torch.abs),
    "Add": _plain(torch.add),
    "AddInto": _into(torch.add, Tensor.add_),
    "Attention": _attention,
    "AveragePool": _average_pool,
    "BiasAdd": _plain(lambda x, bias, skip: _skip_sum(x, skip, bias)),
    "BiasSplitGelu": _plain(_bias_split_gelu),
    "Cast": _cast,
    "Clip": _plain(torch.clamp),
    "Concat": _concat,
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "DepthToSpace": _pixel_shuffle,
    "Div": _plain(torch.div),
    "Erf": _plain(torch.erf),
    "FusedMatMul": _linear,
    "Gather": _gather,
    "Gelu": _gelu,
    "GridSample": _grid_sample,
    "GroupNorm": _channels_last_group_norm,
    "GroupNormalization": _group_norm,
    "HostAdd": _plain(_sums),
    "HostConcat": _host_concat,
    "HostDiv": _plain(_quotients),
    "HostMul": _plain(_products),
    "Identity": _plain(lambda x: x),
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "LeakyRelu": lambda *, alpha: lambda x: functional.leaky_relu(x, alpha),
    "Linear": _linear,
    "MatMul": _plain(torch.matmul),
    "MatMulNBits": _linear_in_blocks,
    "Max": _plain(torch.maximum),
    "MaxPool": _max_pool,
    "Mul": _plain(torch.mul),
    "MulInto": _into(torch.mul, Tensor.mul_),
    "MultiHeadAttention": _multi_head_attention,
    "Neg": _plain(torch.neg),
    "NhwcConv": _channels_last_convolution,
    "Pow": _plain(torch.pow),
    "PRelu": _plain(lambda x, slopes: torch.where(x < 0, x * slopes, x)),
    "ReduceL2": _reduced(torch.linalg.vector_norm),
    "ReduceMax": _reduced(torch.amax),
    "ReduceMean": _reduced(torch.mean),
    "ReduceMin": _reduced(torch.amin),
    "ReduceSum": _reduced(torch.sum),
    "Relu": _plain(torch.relu),
    "Reshape": _plain(_reshape),
    "Resize": _resize,
    "Shape": _shape,
    "Sigmoid": _plain(torch.sigmoid),
    "Silu": _plain(functional.silu),
    "SiluInto": _plain(lambda x: functional.silu(x, inplace=True)),
    "SkipSum": _plain(_skip_sum),
    "Slice": _plain(_slice),
    "Softmax": lambda *, axis: lambda x: torch.softmax(x, axis),
    "Softplus": _plain(functional.softplus),
    "Sqrt": _plain(torch.sqrt),
    "Sub": _plain(torch.sub),
    "Tanh": _plain(torch.tanh),
    "Tile": _plain(_tile),
    "Transpose": lambda *, perm: lambda x: x.permute(perm),
    "Unsqueeze": _plain(_unsqueeze),
}
