"""The description of a LoRA file, from its header, its metadata and the cards beside it."""

from hashlib import sha256
from pathlib import Path

import msgspec

from engine.api.lora_files import MOST_CHARACTERS, MOST_WORDS, LoraInfo
from engine.api.reasons import known_kind
from engine.api.sentences import Sentence, as_it_is, sentence
from engine.checkpoints.files import read_index
from engine.checkpoints.index import FileState, TensorIndex
from engine.errors import EngineError
from engine.families.lora_purpose import LoraPurpose, purpose_of_facts, purpose_of_keys
from engine.lora.facts import LoraFacts, facts_of, tags_of
from engine.lora.few_steps import few_steps_of
from engine.lora.file import LoraFile, read_lora
from engine.lora.files_below import ListedFile

_DOWN = "lora_down.weight"
# The most frequent tags of a training that stand for trigger words.
_MOST_TAGS = 10
# The most layouts of files that are remembered.
_MOST_LAYOUTS = 500


class _Layout(msgspec.Struct, frozen=True):
    """The facts that the keys and shapes of a file show.

    `purpose` is None where only metadata tell it. `layers` are the names of the layers.
    """

    purpose: LoraPurpose | None
    rank: int | None
    layers: tuple[str, ...]


class LoraDescriber:
    """Opens files and describes them.

    A trainer's files of one rank have the same keys and shapes, from which most is found out: that
    is done once for all of them.
    """

    def __init__(self) -> None:
        self._layouts: dict[bytes, _Layout] = {}

    def __call__(self, listed: ListedFile) -> LoraInfo:
        """Open a file and describe it; a file that is unsound or no LoRA has a `problem`."""
        path = Path(listed.path)
        try:
            index = read_index(path, _no_digest)
        except EngineError as error:
            return _info(listed, problem=_bounded(error.text))
        layout, facts = self._layout(index), facts_of(index)
        purpose = layout.purpose or purpose_of_facts(facts)
        if not purpose.is_lora:
            problem = sentence(
                "{path} is {words}, not a LoRA.",
                path=path.name[:80],
                words=known_kind(purpose.words),
            )
            return _info(listed, problem=problem, is_embedding=purpose.is_embedding)
        # Most trainers' files state no words, but the tags of their pictures.
        words = facts.trigger_words or tags_of(index)[:_MOST_TAGS]
        return _described(listed, facts, purpose, layout, words)

    def _layout(self, index: TensorIndex) -> _Layout:
        key = _layout_key(index)
        layout = self._layouts.get(key)
        if layout is None:
            file = read_lora(index)
            layers = tuple(module.layer for module in file.modules)
            layout = _Layout(purpose_of_keys(file), _rank(file), layers)
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            self._layouts[key] = layout
        return layout


def _layout_key(index: TensorIndex) -> bytes:
    """Return a digest of the names and shapes of a file's tensors."""
    shapes = [tensor.shape for tensor in index.tensors.values()]
    return sha256(f"{list(index.tensors)}{shapes}".encode("utf-8", "surrogatepass")).digest()


def _described(
    listed: ListedFile,
    facts: LoraFacts,
    purpose: LoraPurpose,
    layout: _Layout,
    words: tuple[str, ...],
) -> LoraInfo:
    names = (facts.output_name, facts.title)
    return _info(
        listed,
        title=facts.output_name or facts.title,
        purpose=purpose.words[:MOST_CHARACTERS],
        base_model=facts.base_model,
        families=purpose.families,
        is_certain=purpose.certain,
        takes_map=purpose.takes_map,
        trigger_words=tuple(word[:MOST_CHARACTERS] for word in words[:MOST_WORDS]),
        hashes=(*sorted(facts.tensors_hashes), *sorted(facts.hashes)),
        rank=layout.rank,
        few_steps=few_steps_of(names, Path(listed.path), layout.layers, purpose.families),
    )


def _bounded(text: Sentence) -> Sentence:
    """Return a sentence, or the beginning of one that is too long for a message."""
    words = str(text)
    return text if len(words) <= MOST_CHARACTERS else as_it_is(words[:MOST_CHARACTERS])


def _info(listed: ListedFile, **facts: object) -> LoraInfo:
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


def _rank(file: LoraFile) -> int | None:
    """Return the largest rank of the low-rank changes; None if there are none."""
    downs = (module.tensors.get(_DOWN) for module in file.modules)
    shapes = (tensor.shape for tensor in downs if tensor is not None)
    return max((shape[0] for shape in shapes if shape and shape[0] > 0), default=None)
