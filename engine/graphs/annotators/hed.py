"""Holistically-nested edges by ControlNet's own network (Xie & Tu 2015).

Source: `ControlNetHED_Apache2` in github.com/lllyasviel/ControlNet-v1-1-nightly
(`annotator/hed/__init__.py`), whose weights are ControlNetHED.pth.
"""

from engine.graphs.annotators import planes
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# Channels and convolutions of each block.
_BLOCKS = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))


def hed(g: GraphBuilder) -> None:
    """Emit the network: "image" in RGB from 0 to 255 to "map", the mean of its five logits."""
    image = planes.picture(g)
    x = g.op("Sub", image, g.weight("norm", (1, 3, 1, 1)))
    before, logits = 3, list[Value]()
    for number, (channels, count) in enumerate(_BLOCKS, 1):
        x = planes.halved(g, x) if number > 1 else x
        for layer in range(count):
            name = f"block{number}.convs.{layer}"
            x = g.op("Relu", planes.conv(g, x, name, (before, channels)))
            before = channels
        edge = planes.conv(g, x, f"block{number}.projection", (channels, 1), kernel=1)
        logits.append(planes.resized_like(g, edge, image) if number > 1 else edge)
    mean = g.op("Mul", planes.total(g, logits), g.constant(1 / len(_BLOCKS)))
    planes.result(g, mean)
