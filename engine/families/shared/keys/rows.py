"""Cutting a stored weight that holds several into rows of the file, so that nothing is copied."""

from collections.abc import Collection, Iterator
from pathlib import Path

from engine.api.sentences import sentence
from engine.checkpoints.faults import quoted
from engine.families.shared.keys.numbering import damaged
from engine.weights.stored import StoredWeight


def rows(
    names: Collection[str],
    name: str,
    tensor: StoredWeight,
    width: int,
    path: Path,
    *,
    rest: bool = False,
) -> Iterator[tuple[str, StoredWeight]]:
    """Yield parts of `width` rows each; the last one has all that are left if there is a `rest`.

    `name` is that of the whole. Raises EngineError(CHECKPOINT_CORRUPT) for another number of rows.
    """
    count = tensor.shape[0] if tensor.shape else 0
    needed = width * (len(names) - rest)
    if not width or (count <= needed if rest else count != needed):
        shape = list(tensor.shape)
        raise damaged(path, sentence("{name!r} has the shape {list}", name=name, list=shape))
    for number, part in enumerate(names):
        is_rest = rest and number == len(names) - 1
        stop = count if is_rest else width * (number + 1)
        try:
            yield part, tensor.rows(width * number, stop)
        except ValueError as error:
            why = sentence(
                "the rows of tensor {name} are no whole blocks of {dtype}",
                name=quoted(name),
                dtype=tensor.dtype.value,
            )
            raise damaged(path, why) from error
