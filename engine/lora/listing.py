"""A LoRA file's modules as text, for rules over names and sizes."""

from collections.abc import Iterator

from engine.lora.file import LoraFile
from engine.lora.layers import spelled
from engine.lora.widths import widths


def listing_of(file: LoraFile) -> str:
    """Return one line `layer [outputs,inputs] dimensions` per module or unread key.

    The lines are between newlines. The layer is spelled with `_` for each dot, prefix included; a
    size that the tensors do not show is `?`; dimensions are those of the module's largest kernel,
    such as `4d`.
    """
    return "\n" + "\n".join(_lines(file)) + "\n"


def _lines(file: LoraFile) -> Iterator[str]:
    for module in file.modules:
        out, into = ("?" if width is None else str(width) for width in widths(module))
        most = max(len(tensor.shape) for tensor in module.tensors.values())
        yield f"{spelled(module.layer)} [{out},{into}] {most}d"
    for key in file.unread:
        yield f"{spelled(key)} [?,?] 0d"
