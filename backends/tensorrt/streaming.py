"""The budget of an engine whose weights are streamed to the card."""

from backends.base import IN_FLIGHT, Graph


def staying_bytes(graph: Graph) -> int | None:
    """Return the bytes of weights that stay on the card; None if the plan leaves them open.

    `Graph.room_bytes` counts those on their way, too, which TensorRT's budget does not:
    docs.nvidia.com/deeplearning/tensorrt-rtx/latest/inference-library/weight-streaming.html
    """
    if graph.room_bytes is None:
        return None
    largest = max(graph.weight_sizes.values(), default=0)
    return max(0, graph.room_bytes - IN_FLIGHT * largest)
