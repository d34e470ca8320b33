"""A series of UNet graphs, each with one more of ONNX Runtime's fused operators."""

from collections.abc import Mapping

import msgspec

from backends.base import OperatorSet
from backends.forms import (
    AttentionForm,
    GegluForm,
    GroupNormForm,
    LayerNormForm,
    Layout,
    ResidualForm,
)
from backends.nvidia_cuda import OPERATORS

_PLAIN = msgspec.structs.replace(
    OPERATORS,
    attention=AttentionForm.PRIMITIVE,
    layout=Layout.PLANES,
    group_norm=GroupNormForm.INSTANCE,
    layer_norm=LayerNormForm.STANDARD,
    geglu=GegluForm.HALVES,
    residual=ResidualForm.ADD,
)
_ATTENTION = msgspec.structs.replace(_PLAIN, attention=AttentionForm.MULTI_HEAD)
_LAYER_NORM = msgspec.structs.replace(_ATTENTION, layer_norm=LayerNormForm.SKIP)
_CHANNELS_LAST = msgspec.structs.replace(_LAYER_NORM, layout=Layout.CHANNELS_LAST)
_GROUP_NORM = msgspec.structs.replace(_CHANNELS_LAST, group_norm=GroupNormForm.FUSED)
_SPLIT_GELU = msgspec.structs.replace(_GROUP_NORM, geglu=GegluForm.BIAS_SPLIT)
_PACKED = msgspec.structs.replace(_SPLIT_GELU, attention=AttentionForm.PACKED)
_BIAS_ADD = msgspec.structs.replace(_PACKED, residual=ResidualForm.BIAS_ADD)

# In the order of the publication cited below.
STEPS: Mapping[str, OperatorSet] = {
    "plain": _PLAIN,
    "+ attention": _ATTENTION,
    "+ layer norm with the sum before": _LAYER_NORM,
    "+ channels last": _CHANNELS_LAST,
    "+ group norm with SiLU and sum": _GROUP_NORM,
    "+ split GELU": _SPLIT_GELU,
    "+ packed projections": _PACKED,
    "+ bias with residual": _BIAS_ADD,
}
# Seconds for 50 steps of SD 1.5 at 512x512 in half precision on an RTX 3060, cumulative
# (github.com/microsoft/onnxruntime,
# onnxruntime/python/tools/transformers/models/stable_diffusion/README.md, "Optimization"); layer
# norm has no row of its own there.
PUBLISHED_S: Mapping[str, float] = {
    "plain": 10.2,
    "+ attention": 6.1,
    "+ channels last": 5.5,
    "+ group norm with SiLU and sum": 5.1,
    "+ split GELU": 4.9,
    "+ packed projections": 4.8,
    "+ bias with residual": 4.7,
}
assert OPERATORS == _BIAS_ADD
