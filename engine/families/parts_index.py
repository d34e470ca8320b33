"""An index of a person's files, for those that hold the parts which a checkpoint lacks.

Files are read by their headers, and what they hold is remembered. A file that looks as if it fitted
is tried as it would be used, so whatever is offered does fit.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from engine.api.checkpoints import FittingFile, Gap
from engine.api.request import ComponentFiles
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.holdings import Holding, Holdings, read_header
from engine.families.identify import require_tokenizers, supply
from engine.families.registry import FAMILIES
from engine.folders import CHECKPOINT_SUFFIXES, weights_below, weights_in

MOST_FILES = 1000
MOST_OFFERED = 5
_TEXTS = {Component.TEXT_ENCODER, Component.TEXT_ENCODER_2}
_WORDS = re.compile(r"[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class PartsIndex:
    """A folder of a person's checkpoints and parts, with all below it; it need not exist."""

    folder: Path
    known: KnownFiles

    def gaps(self, checkpoint: IdentifiedCheckpoint) -> tuple[Gap, ...]:
        """The parts that the checkpoint lacks, and at most five files that fit, the best first.

        Files in the checkpoint's own folder are looked at, too.
        """
        looking = self.look_for_gaps(checkpoint)
        while True:
            try:
                next(looking)
            except StopIteration as end:
                return end.value

    def look_for_gaps(
        self, checkpoint: IdentifiedCheckpoint
    ) -> Generator[None, None, tuple[Gap, ...]]:
        """As `gaps`, yielding after each file, so that others need not wait for all."""
        if not checkpoint.missing:
            return ()
        holdings = Holdings(self.known)
        held: dict[Path, Holding] = {}
        for path in self._files(checkpoint.path):
            held[path] = holdings.holding(path)
            yield
        gaps: list[Gap] = []
        for component in checkpoint.missing:
            gaps.append(_gap(checkpoint, component, held))
            yield
        return tuple(gaps)

    def _files(self, checkpoint: Path) -> Iterable[Path]:
        below = islice(weights_below(self.folder, CHECKPOINT_SUFFIXES), MOST_FILES)
        neighbours = islice(weights_in(checkpoint.parent, CHECKPOINT_SUFFIXES), MOST_FILES)
        return [path for path in dict.fromkeys((*below, *neighbours)) if path != checkpoint]


def _gap(
    checkpoint: IdentifiedCheckpoint, component: Component, held: Mapping[Path, Holding]
) -> Gap:
    return Gap(
        component=component.value,
        label=FAMILIES.named(checkpoint.family).label(component),
        fits=tuple(islice(_fitting(checkpoint, component, held), MOST_OFFERED)),
    )


def _fitting(
    checkpoint: IdentifiedCheckpoint, component: Component, held: Mapping[Path, Holding]
) -> Iterator[FittingFile]:
    holders = [path for path, holding in held.items() if component in holding.parts]
    holders.sort(key=lambda path: _rank(path, held[path], component, checkpoint))
    for path in holders:
        files = ComponentFiles(**{component.value: str(path)})
        try:
            supplied = supply(checkpoint, files, read_header)
            if component in _TEXTS:
                require_tokenizers(supplied)
        except EngineError:
            continue
        yield FittingFile(path=str(path), family=held[path].family)


def _rank(
    path: Path, holding: Holding, component: Component, checkpoint: IdentifiedCheckpoint
) -> tuple[int, int, int, str]:
    """The sort key of a file: parts alone come first, then the same family's, then by name.

    A part alone whose name sounds like another family's comes after the same family's.
    """
    name = path.stem.casefold()
    family = FAMILIES.named(checkpoint.family)
    other_family = bool(holding.family) and holding.family != checkpoint.family
    sounds_wrong = not holding.family and not family.name_suits(component, name)
    order = 3 if other_family else 2 if sounds_wrong else 1 if holding.family else 0
    mine = {*_WORDS.findall(checkpoint.path.stem.casefold())}
    shared = len(mine & {*_WORDS.findall(name)})
    return order, -shared, len(path.parts), str(path)
