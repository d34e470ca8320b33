"""Test vectors that ONNX Runtime publishes for its fused operators, as far as they are needed here.

From github.com/microsoft/onnxruntime, onnxruntime/test/contrib_ops; each with its file, test and
commit. Of a batch of independent pictures the first one is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from backends.base import Array


@dataclass(frozen=True)
class Vector:
    """Inputs and outputs of one node, in the order of its schema; None for one not given."""

    source: str
    kind: str
    inputs: tuple[Array | None, ...]
    outputs: tuple[Array | None, ...]
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    # The file's own; of float16 where it says so.
    tolerance: float = 1e-5


def numbers(text: str, *shape: int) -> Array:
    return np.array(text.split(), np.float32).reshape(shape)


_SKIP_GROUP_NORM = (
    "skip_group_norm_op_test.cc, SkipGroupNormTest.SkipGroupNorm_with_bias, "
    "0f2d109fc265f1e52023208f81f92b471bad0da8"
)
_X = """
-0.768555 1.575195 -0.698242 1.587891 0.371826 -0.280029 -1.328125 0.127197
-0.197144 0.982422 -0.671387 -1.925781 1.800781 -0.020218 -0.782227 1.291992
-0.935059 1.782227 -0.674316 -1.943359 -0.218994 0.054138 -1.539062 -0.546387
-2.160156 1.195312 1.653320 -0.674316 0.224731 -0.093262 1.160156 -0.389404
1.748047 0.766113 0.234375 0.011177 -0.055847 -0.930664 -0.490234 -0.655762
-0.382568 -0.554688 0.910645 -0.227295 1.687500 0.028397 -0.241699 -0.480957
-0.355713 -2.095703 -0.443359 -0.126221 -0.815918 0.792969 -0.450439 -0.952148
-1.174805 0.242798 0.138550 -0.237061 -0.994141 0.346436 0.147705 0.125854
"""
_GAMMA = """
0.241255 0.556660 -0.835532 0.564596 -1.338308 -0.278924 0.357326 -1.745484
0.277184 0.101415 -0.018637 -0.526188 -0.011698 -2.349411 0.206578 0.357679
"""
_BETA = """
-1.194839 0.209146 -0.677225 -0.547338 1.275685 -1.099577 0.470916 0.293907
-1.094209 2.350204 -1.633769 0.248753 -0.180166 0.365134 -0.555731 1.843083
"""
_SKIP = """
0.892578 -0.471924 -0.423096 1.277344 0.257080 -1.366211 1.552734 0.441406
-0.033142 -0.059418 1.536133 -0.225464 1.472656 0.591309 -0.386230 -2.197266
0.089600 -0.256592 -1.873047 0.916992 0.392090 0.015526 -0.949219 0.566895
-0.220459 1.262695 -0.437744 -2.283203 -0.264893 -0.660156 2.353516 1.992188
0.865723 -0.854004 -1.014648 0.899414 -1.041016 1.378906 -0.075073 -2.541016
-0.883789 -0.428711 0.981934 -0.072754 2.214844 0.658203 0.170166 -1.727539
-0.672363 -1.373047 0.318115 0.422363 0.260742 -0.547852 0.545898 -0.155762
0.679688 2.861328 -0.300781 -0.504883 1.548828 0.353760 -0.387695 -1.595703
"""
_BIAS = """
-0.537598 0.500488 -0.252441 -0.460693 -1.640625 -1.298828 0.331787 -1.588867
1.000977 1.458984 0.702637 0.147827 1.143555 0.533691 -0.072510 0.511230
"""
_NORMAL = """
-1.213867 0.856445 -0.119141 0.386475 0.714355 -0.804688 1.048828 -0.426270
-1.091797 2.435547 -1.641602 0.989746 -0.200928 0.267334 -0.800781 1.577148
-1.357422 1.000977 0.613281 -0.963867 1.179688 -1.169922 0.308350 0.304199
-1.396484 2.513672 -1.644531 1.206055 -0.180664 1.896484 -0.294678 2.046875
-0.844238 0.448486 -0.294189 -0.291504 2.480469 -1.250977 0.833008 4.593750
-1.238281 2.335938 -1.651367 0.491943 -0.204834 0.125610 -0.682129 1.333984
-1.384766 -0.708008 -0.630859 -0.504883 1.924805 -1.208008 1.013672 1.809570
-1.128906 2.546875 -1.631836 0.610840 -0.184326 0.110046 -0.700195 1.471680
"""
_WHOLE = """
-0.414062 1.604492 -1.374023 2.404297 -1.011719 -2.945312 0.556641 -1.020508
0.770508 2.382812 1.567383 -2.003906 4.417969 1.105469 -1.240234 -0.394531
-1.382812 2.027344 -2.800781 -1.487305 -1.466797 -1.229492 -2.156250 -1.568359
-1.379883 3.917969 1.917969 -2.808594 1.103516 -0.219727 3.441406 2.113281
2.076172 0.412598 -1.033203 0.449951 -2.738281 -0.851562 -0.233521 -4.785156
-0.265625 0.475586 2.595703 -0.152222 5.046875 1.220703 -0.144043 -1.697266
-1.566406 -2.968750 -0.377686 -0.164551 -2.195312 -1.053711 0.427246 -2.697266
0.505859 4.562500 0.540527 -0.594238 1.698242 1.233398 -0.312500 -0.958496
"""
_IMAGE, _CHANNELS = (1, 2, 2, 16), 16
_NORM = {"epsilon": 1e-5, "groups": 4, "activation": 0, "channels_last": 1}

_CONV = "nhwc_conv_op_test.cc, NhwcConvTest.{}, 60e0da6a8cc9db375167759ca0e89b52b9787e2d"
_NINE = numbers("1 2 3 4 5 6 7 8 9", 1, 3, 3, 1)

_LAYER_NORM = (
    "skiplayernorm_op_test.cc, SkipLayerNormTest.SkipLayerNormBatch2_Bias, "
    "00837244940c0b80d8d7f3b7ab90b43e6b3d22cc"
)


def _convolution(name: str, pads: list[int], expected: str) -> Vector:
    return Vector(
        _CONV.format(name),
        "NhwcConv",
        (_NINE, np.ones((1, 3, 3, 1), np.float32), np.ones(1, np.float32)),
        (numbers(expected, 1, 2, 2, 1),),
        {"kernel_shape": [3, 3], "strides": [1, 1], "pads": pads},
    )


VECTORS = (
    Vector(
        _SKIP_GROUP_NORM,
        "SkipGroupNorm",
        (
            numbers(_X, *_IMAGE),
            numbers(_GAMMA, _CHANNELS),
            numbers(_BETA, _CHANNELS),
            numbers(_SKIP, *_IMAGE),
            numbers(_BIAS, _CHANNELS),
        ),
        (numbers(_NORMAL, *_IMAGE), numbers(_WHOLE, *_IMAGE)),
        _NORM,
        tolerance=0.02,
    ),
    # Of what that test says is the sum.
    Vector(
        _SKIP_GROUP_NORM,
        "GroupNorm",
        (numbers(_WHOLE, *_IMAGE), numbers(_GAMMA, _CHANNELS), numbers(_BETA, _CHANNELS)),
        (numbers(_NORMAL, *_IMAGE),),
        _NORM,
        tolerance=0.02,
    ),
    Vector(
        _CONV.format("Conv2D_Bias_1"),
        "NhwcConv",
        (_NINE, np.ones((2, 2, 2, 1), np.float32), numbers("1 -1", 2)),
        (numbers("13 11 17 15 25 23 29 27", 1, 2, 2, 2),),
        {"kernel_shape": [2, 2], "strides": [1, 1], "pads": [0, 0, 0, 0]},
    ),
    _convolution("Conv2D_asymmetric_padding1", [1, 1, 0, 0], "13 22 28 46"),
    _convolution("Conv2D_asymmetric_padding2", [0, 0, 1, 1], "46 34 40 29"),
    Vector(
        _LAYER_NORM,
        "SkipLayerNormalization",
        (
            numbers("0.7 -0.4 -0.2 1.2 0.4 0.3 0.1 -0.4 " * 2, 2, 2, 4),
            numbers("0.1 -0.2 0.3 1 0.5 0.1 0.4 1.6 1.8 -0.3 0 1 -0.5 0.4 0.8 -0.6", 2, 2, 4),
            numbers("0.3 0.2 4.0 2.2", 4),
            numbers("0.2 0.1 0.4 1.6", 4),
            numbers("0.1 -0.1 0.2 -0.2", 4),
        ),
        (
            numbers(
                """
                0.28433859348297119 -0.17090578377246857 -0.92897164821624756 4.6924152374267578
                0.46111652255058289 -0.21333980560302734 -0.29631003737449646 3.5148544311523438
                0.55470430850982666 -0.15080101788043976 -2.3229825496673584 3.255286693572998
                0.15631480515003204 0.21066918969154358 4.9432611465454102 -1.7957965135574341
                """,
                *(2, 2, 4),
            ),
        ),
        {"epsilon": 1e-12},
    ),
)
