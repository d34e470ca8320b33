"""The variant of a file whose kin have the same tensors is declared in the window."""

from app.library.checkpoint_declarations import CheckpointDeclaration
from engine.api.messages import FamiliesKnown
from engine.api.request import CheckpointOverride
from engine.families.registry import FAMILIES
from tests.ui.conftest import Desk


def test_a_model_of_flux_is_declared_to_be_kontext(desk: Desk) -> None:
    panel, state = desk.window.form.advanced.rows.model.whole.declaration, desk.session.generation
    desk.session.client.families_known.emit(FamiliesKnown(families=FAMILIES.listed))
    assert not panel.variant.isVisibleTo(panel)
    assert not panel.labels[1].isVisibleTo(panel)
    state.declaration = CheckpointDeclaration(override=CheckpointOverride(family="flux1"))
    assert panel.variant.isVisibleTo(panel)
    shown = [panel.variant.itemText(row) for row in range(panel.variant.count())]
    assert shown == ["Auto", "dev, Krea", "Kontext", "Canny", "Depth"]
    panel.variant.setCurrentIndex(2)
    panel.variant.activated.emit(2)
    assert state.build_request().override == CheckpointOverride(family="flux1", variant="kontext")
    assert panel.variant.currentText() == "Kontext"
    # Another family has other variants.
    panel.family.setCurrentIndex(panel.family.findData("zimage"))
    panel.family.activated.emit(panel.family.currentIndex())
    assert state.build_request().override == CheckpointOverride(family="zimage")
    assert panel.variant.itemText(2) == "Base"
