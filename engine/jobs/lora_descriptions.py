"""The description of a LoRA file, from its header, its metadata and the cards beside it."""

from collections.abc import Iterable
from pathlib import Path

from engine.api.lora_files import MOST_CHARACTERS, MOST_WORDS, LoraInfo
from engine.checkpoints.files import read_index
from engine.checkpoints.index import FileState
from engine.errors import EngineError
from engine.families.lora_purpose import LoraPurpose, purpose_of
from engine.lora.facts import LoraFacts
from engine.lora.few_steps import few_steps_of
from engine.lora.file import LoraFile, read_lora
from engine.lora.files_below import ListedLora

_DOWN = "lora_down.weight"


def describe_lora(listed: ListedLora) -> LoraInfo:
    """Open a file and describe it; a file that is unsound or no LoRA has a `problem`."""
    path = Path(listed.path)
    try:
        file = read_lora(read_index(path, _no_digest))
    except EngineError as error:
        return _info(listed, problem=error.message[:MOST_CHARACTERS])
    purpose = purpose_of(file)
    if not purpose.is_lora:
        problem = f"{path.name[:80]} is {purpose.words}, not a LoRA."
        return _info(listed, problem=problem, is_embedding=purpose.is_embedding)
    return _described(listed, file, file.facts, purpose)


def _described(
    listed: ListedLora, file: LoraFile, facts: LoraFacts, purpose: LoraPurpose
) -> LoraInfo:
    names = (facts.output_name, facts.title)
    return _info(
        listed,
        title=facts.output_name or facts.title,
        purpose=purpose.words[:MOST_CHARACTERS],
        base_model=facts.base_model,
        families=purpose.families,
        is_certain=purpose.certain,
        trigger_words=tuple(word[:MOST_CHARACTERS] for word in facts.trigger_words[:MOST_WORDS]),
        hashes=(*sorted(facts.tensors_hashes), *sorted(facts.hashes)),
        rank=_rank(file),
        few_steps=few_steps_of(names, file.path, _layers(file)),
    )


def _info(listed: ListedLora, **facts: object) -> LoraInfo:
    stamp = listed.stamp
    return LoraInfo(
        path=listed.path,
        name=listed.name,
        size=stamp.size,
        modified_ns=stamp.modified_ns,
        **facts,  # pyright: ignore[reportArgumentType]
    )


def _no_digest(_: FileState) -> str:
    """Spare the reading of the file beyond its header: a list needs no digest."""
    return "none"


def _layers(file: LoraFile) -> Iterable[str]:
    return (module.layer for module in file.modules)


def _rank(file: LoraFile) -> int | None:
    """Return the largest rank of the low-rank changes; None if there are none."""
    downs = (module.tensors.get(_DOWN) for module in file.modules)
    shapes = (tensor.shape for tensor in downs if tensor is not None)
    return max((shape[0] for shape in shapes if shape and shape[0] > 0), default=None)
