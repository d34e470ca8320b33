"""Pictures of other tools beside ours: a part of what FIDELITY.md lists, measured again."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from collections.abc import Iterator

import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:__array_wrap__ must:DeprecationWarning"),
    # torchsde is asked for levels that lie outside of its path by a rounding
    pytest.mark.filterwarnings("ignore:Should have t:UserWarning"),
    # k-diffusion copies tensors by torch.tensor
    pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning"),
]
for module in ("torch", "diffusers", "transformers", "torchsde", "scipy", "compel"):
    pytest.importorskip(module)

from tests.oracle.fidelity import page  # noqa: E402
from tests.oracle.fidelity.cells import Cell  # noqa: E402
from tests.oracle.fidelity.matrix import cells, of_each_kind  # noqa: E402
from tests.oracle.fidelity.proof import LIMIT, Proof  # noqa: E402

CELLS = cells()


@pytest.fixture(scope="module")
def proof(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proof]:
    """The proof of the cells of this run alone, as it makes the next one's picture ahead."""
    names = {item.name for item in request.session.items}
    run = [cell for cell in CELLS if f"test_a_picture_equals_the_tools[{cell.name}]" in names]
    made = Proof(tmp_path_factory.mktemp("fidelity"), run)
    yield made
    made.close()


# `make thorough` and `make fidelity` measure every cell.
OFTEN = of_each_kind(CELLS)
MEASURED = [
    pytest.param(cell, id=cell.name, marks=[pytest.mark.slow] * (cell.name not in OFTEN))
    for cell in CELLS
]


@pytest.mark.parametrize("cell", MEASURED)
def test_a_picture_equals_the_tools(cell: Cell, proof: Proof) -> None:
    assert proof.measure(cell) >= LIMIT


def test_the_page_lists_every_comparison() -> None:
    names = {cell.name for cell in CELLS}
    assert len(names) == len(CELLS)
    figures = page.Figures(dict.fromkeys(names, 60.0), dict.fromkeys(_with_controls(), 20.0))
    assert page.masked(page.PATH.read_text()) == page.masked(page.written(CELLS, figures, LIMIT))


def test_the_page_has_no_figure_below_the_limit() -> None:
    assert page.lowest(page.PATH.read_text()) >= LIMIT


def test_a_picture_without_a_feature_is_below_the_limit() -> None:
    """A picture without the feature is below the limit: the comparison would notice."""
    seen = page.controls(page.PATH.read_text())
    assert len(seen) == len(_with_controls())
    assert max(seen) < LIMIT


def _with_controls() -> list[str]:
    return [cell.name for cell in CELLS if cell.without is not None]
