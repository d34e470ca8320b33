"""A small network on the null backend that plays a compiler, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np

from backends.base import Array, Cancellation, DimensionRange, DType, Precision, Session
from backends.null import Compiling, NullBackend
from engine.cancel import CancelToken
from engine.checkpoints.safetensors import read_index
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.graphs.clip_text import clip_text
from engine.memory.plan import WeightPlacement
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import SMALL_CLIP, random_weights

ROWS = DimensionRange(1, 2, 8)


def write_weights(path: Path, seed: int = 0, dtype: DType = DType.F32) -> Path:
    """Weights of a small text encoder."""
    write_arrays(path, random_weights(lambda g: clip_text(g, SMALL_CLIP), seed), dtype)
    return path


def network(path: Path, *, skip: int = 1, rows: DimensionRange = ROWS) -> Network:
    """The text encoder with the weights in this file."""
    index = read_index(path)
    return Network(
        "text_encoder",
        lambda g: clip_text(g, SMALL_CLIP, skip),
        WeightSet(index.digest, index.tensors),
        {"batch": rows},
        path.stem,
    )


@dataclass
class Bench:
    """Loads the network again and again, each time as if everything had just been started."""

    folder: Path
    compiling: Compiling = field(default_factory=Compiling)
    backend: type[NullBackend] = NullBackend
    reports: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.compiling = msgspec.structs.replace(
            self.compiling, journal=str(self.folder / "journal")
        )
        self.weights = write_weights(self.folder / "checkpoint.safetensors")
        self.cache = self.folder / "cache"

    def change(self, **how: Any) -> None:
        """Compile differently from now on."""
        self.compiling = msgspec.structs.replace(self.compiling, **how)

    @property
    def compiles(self) -> int:
        """The number of compiles that were begun, in any process."""
        journal = Path(self.compiling.journal)
        return len(journal.read_text().splitlines()) if journal.exists() else 0

    @property
    def store(self) -> ArtifactStore:
        return ArtifactStore(self.cache / "compiled")

    def artifacts(self) -> list[Path]:
        """The folders of whole artifacts."""
        return [self.cache / "compiled" / entry.name for entry in self.store.listed()]

    def left(self) -> set[str]:
        """The files in the folder of artifacts other than artifacts and locks."""
        folder = self.cache / "compiled"
        names = {path.name for path in folder.iterdir()} if folder.exists() else set[str]()
        whole = {path.name for path in self.artifacts()}
        return {name for name in names - whole if not name.endswith(".lock")}

    def compiler(self, store: ArtifactStore | None = None) -> Compiler:
        backend = self.backend(compiling=self.compiling)
        copies = WorkingCopies(self.cache / "weights")
        return Compiler(backend, backend.probe()[0], copies, store or self.store)

    def session(
        self,
        made: Network | None = None,
        precision: Precision = Precision.F32,
        cancel: Cancellation | None = None,
        store: ArtifactStore | None = None,
    ) -> Session:
        """Load, also in processes of their own."""

        def report(done: int, total: int) -> None:
            self.reports.append((done, total))

        with patch.dict("os.environ", self.compiling.as_environment()):
            return self.compiler(store).load(
                made or network(self.weights),
                precision,
                WeightPlacement.MEMORY,
                report,
                cancel or CancelToken(),
            )

    def numbers(self, made: Network | None = None, rows: int = 2, **given: Any) -> Array:
        """Load, run, close."""
        session = self.session(made, **given)
        try:
            return run(session, rows)
        finally:
            session.close()


def run(session: Session, rows: int = 2) -> Array:
    """The network's output for so many rows of tokens."""
    feeds: Mapping[str, Array] = {"tokens": np.zeros((rows, SMALL_CLIP.positions), np.int64)}
    return session.run(feeds)["last_hidden_state"]
