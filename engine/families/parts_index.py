"""An index of the user's files, to find components that a checkpoint lacks.

Only the headers of files are read, and their contents are remembered. Each candidate is joined to
the checkpoint before it is offered, so every offered file fits.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

import msgspec

from engine.api.checkpoints import FittingFile, Gap
from engine.api.request import ComponentFiles
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families.checkpoint import TEXT_ENCODERS, Component, IdentifiedCheckpoint, name_of
from engine.families.file_contents import ContentsReader, FileContents, read_header
from engine.families.identify import require_tokenizers, supply
from engine.families.registry import FAMILIES
from engine.folders import ADAPTER_FOLDERS, CHECKPOINT_SUFFIXES, weights_below, weights_in

MOST_FILES = 1000
MOST_OFFERED = 5
_WORDS = re.compile(r"[a-z]+|[0-9]+")


class PartsIndex(msgspec.Struct, frozen=True):
    """The user's folder of checkpoints and parts, with its subfolders; it need not exist."""

    folder: Path
    known: KnownFiles

    def gaps(
        self, checkpoint: IdentifiedCheckpoint, others: Iterable[Path] = ()
    ) -> tuple[Gap, ...]:
        """Return each component that the checkpoint lacks, with up to five files, best first.

        `others` are further folders of files. Those in the checkpoint's own are candidates, too.
        """
        looking = self.look_for_gaps(checkpoint, others)
        while True:
            try:
                next(looking)
            except StopIteration as end:
                return end.value

    def look_for_gaps(
        self, checkpoint: IdentifiedCheckpoint, others: Iterable[Path] = ()
    ) -> Generator[None, None, tuple[Gap, ...]]:
        """Find the gaps like `gaps`, but yield after each file, so that other work can run between.

        `others` are further folders of files. The gaps are the generator's return value.
        """
        if not checkpoint.missing:
            return ()
        contents_reader = ContentsReader(self.known)
        contents_by_file: dict[Path, FileContents] = {}
        for path in self._files(checkpoint.path, others):
            contents_by_file[path] = contents_reader.contents(path)
            yield
        gaps: list[Gap] = []
        for component in checkpoint.missing:
            gaps.append(_gap(checkpoint, component, contents_by_file))
            yield
        return tuple(gaps)

    def _files(self, checkpoint: Path, others: Iterable[Path]) -> Iterable[Path]:
        all_below = chain.from_iterable(
            weights_below(folder, CHECKPOINT_SUFFIXES, but=ADAPTER_FOLDERS)
            for folder in (self.folder, *others)
        )
        below = islice(all_below, MOST_FILES)
        neighbours = islice(weights_in(checkpoint.parent, CHECKPOINT_SUFFIXES), MOST_FILES)
        return [path for path in dict.fromkeys((*below, *neighbours)) if path != checkpoint]


def _gap(
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    contents_by_file: Mapping[Path, FileContents],
) -> Gap:
    return Gap(
        component=component.value,
        label=FAMILIES.named(checkpoint.family).label(component),
        fits=tuple(islice(_fitting(checkpoint, component, contents_by_file), MOST_OFFERED)),
    )


def _fitting(
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    contents_by_file: Mapping[Path, FileContents],
) -> Iterator[FittingFile]:
    holders = [path for path, contents in contents_by_file.items() if component in contents.parts]
    holders.sort(key=lambda path: _rank(path, contents_by_file[path], component, checkpoint))
    for path in holders:
        files = ComponentFiles(**{component.value: str(path)})
        try:
            supplied = supply(checkpoint, files, read_header)
            if component in TEXT_ENCODERS:
                require_tokenizers(supplied)
        except EngineError:
            continue
        yield FittingFile(path=str(path), family=contents_by_file[path].family)


def _rank(
    path: Path, contents: FileContents, component: Component, checkpoint: IdentifiedCheckpoint
) -> tuple[int, int, int, str]:
    """Return the sort key of a file that holds a component.

    Files with the component alone come first, then checkpoints of the same family, then single
    components whose name suggests another family, then checkpoints of other families, and tiny VAEs
    last; within each group, files that share more words with the checkpoint's name come first.
    """
    name = path.stem.casefold()
    family = FAMILIES.named(checkpoint.family)
    other_family = bool(contents.family) and contents.family != checkpoint.family
    sounds_wrong = not contents.family and not family.suits_file_name(component, name)
    order = 3 if other_family else 2 if sounds_wrong else 1 if contents.family else 0
    order = 4 if contents.is_tiny else order
    mine = {*_WORDS.findall(name_of(checkpoint.path).casefold())}
    shared = len(mine & {*_WORDS.findall(name)})
    return order, -shared, len(path.parts), str(path)
