"""Measure every comparison and write FIDELITY.md: `python -m tests.oracle.fidelity [WORDS]`.

With words, only cells with one of them in their names are measured and nothing is written.
"""
# pyright: basic

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from warnings import simplefilter

from engine.errors import EngineError
from tests.oracle.fidelity import page
from tests.oracle.fidelity.cells import Cell
from tests.oracle.fidelity.matrix import cells
from tests.oracle.fidelity.proof import LIMIT, Proof


def main(words: list[str]) -> int:
    """Print each figure; the exit status counts those below the limit or that failed."""
    simplefilter("ignore")
    chosen = [c for c in cells() if not words or any(word in c.name for word in words)]
    measured: dict[str, float] = {}
    without: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        proof = Proof(Path(folder), chosen)
        for cell in chosen:
            measured[cell.name] = _measured(proof, cell)
            control = proof.measure_without(cell)
            if control is not None:
                without[cell.name] = control
            low = " BELOW" if measured[cell.name] < LIMIT else ""
            sys.stdout.write(f"{measured[cell.name]:5.1f}  {cell.name}{low}\n")
            sys.stdout.flush()
        proof.close()
    if not words:
        page.PATH.write_text(page.written(chosen, page.Figures(measured, without), LIMIT))
    return sum(figure < LIMIT for figure in measured.values())


def _measured(proof: Proof, cell: Cell) -> float:
    try:
        return proof.measure(cell)
    except EngineError as error:
        sys.stdout.write(f"{error}\n")
        return 0.0


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 100))
