"""Makes the pictures of a cell on both sides and measures how far they are apart."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from tests.oracle.fidelity.cells import Cell
from tests.oracle.fidelity.networks import Networks, init_picture
from tests.oracle.fidelity.ours import Safelight, save_init
from tests.pipeline.jobs import psnr
from tests.tiny_checkpoint import write_checkpoint

# dB; 99 where all pixels are equal.
LIMIT = 45.0
_AHEAD = 2


class Proof:
    """The checkpoints and both sides; the tools' pictures are made on a thread, a little ahead."""

    def __init__(self, folder: Path, cells: Sequence[Cell]) -> None:
        self.folder, self.cells = folder, tuple(cells)
        self.checkpoints = {
            kind: write_checkpoint(folder / kind, prediction=kind)
            for kind in ("epsilon", "v_prediction")
        }
        init = save_init(init_picture(), folder / "init.png")
        self._safelight = Safelight(folder / "cache", init)
        self._networks = {kind: Networks(path) for kind, path in self.checkpoints.items()}
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,))
        self._begun: dict[str, Future[NDArray[np.uint8]]] = {}

    def measure(self, cell: Cell) -> float:
        """dB between the tool's picture and ours."""
        place = self.cells.index(cell)
        theirs, *ahead = map(self._reference_of, self.cells[place : place + _AHEAD])
        checkpoint = self.checkpoints[cell.picture.prediction]
        made = self._safelight.render(cell.asked, cell.picture, checkpoint)
        # Which warnings are errors changes between two tests, for every thread.
        wait(ahead)
        return psnr(made, theirs.result())

    def measure_without(self, cell: Cell) -> float | None:
        """dB between the tool's picture and the one without the feature."""
        if cell.without is None:
            return None
        networks = self._networks[cell.without.prediction]
        without = self._thread.submit(cell.reference_without, networks)
        return psnr(without.result(), self._reference_of(cell).result())

    def close(self) -> None:
        """End the thread and free the networks."""
        self._safelight.close()
        self._thread.shutdown(cancel_futures=True)

    def _reference_of(self, cell: Cell) -> Future[NDArray[np.uint8]]:
        if cell.name not in self._begun:
            self._begun[cell.name] = self._thread.submit(self._reference, cell)
        return self._begun[cell.name]

    def _reference(self, cell: Cell) -> NDArray[np.uint8]:
        return cell.reference(self._networks[cell.picture.prediction])
