"""Line drawings of photographs by the generator of informative-drawings (Chan et al. 2022).

Source: `Generator` in github.com/carolineec/informative-drawings (`model.py`), here with three
residual blocks, as ControlNet's sk_model.pth and sk_model2.pth have.
"""

from engine.graphs.annotators import planes
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

_WIDTH, _BLOCKS = 64, 3


def line_drawing(g: GraphBuilder) -> None:
    """Emit the network: "image" in RGB from 0 to 1 to "map", dark lines on white from 0 to 1."""
    x = planes.reflected(g, planes.picture(g), 3)
    x = _active(g, planes.conv(g, x, "model0.1", (3, _WIDTH), kernel=7, pad=0), _WIDTH)
    width = _WIDTH
    for place in (0, 3):
        x = planes.conv(g, x, f"model1.{place}", (width, 2 * width), stride=2)
        width *= 2
        x = _active(g, x, width)
    for block in range(_BLOCKS):
        x = g.op("Add", x, _residual(g, x, f"model2.{block}.conv_block", width))
    for place in (0, 3):
        halves = (width, width // 2)
        x = planes.transposed_conv(
            g, x, f"model3.{place}", halves, kernel=3, stride=2, pad=1, more=1
        )
        width //= 2
        x = _active(g, x, width)
    x = planes.conv(g, planes.reflected(g, x, 3), "model4.1", (width, 1), kernel=7, pad=0)
    planes.result(g, g.op("Sigmoid", x))


def _active(g: GraphBuilder, x: Value, channels: int) -> Value:
    return g.op("Relu", planes.instance_norm(g, x, channels))


def _residual(g: GraphBuilder, x: Value, name: str, width: int) -> Value:
    x = planes.conv(g, planes.reflected(g, x, 1), f"{name}.1", (width, width), pad=0)
    x = planes.reflected(g, _active(g, x, width), 1)
    return planes.instance_norm(g, planes.conv(g, x, f"{name}.5", (width, width), pad=0), width)
