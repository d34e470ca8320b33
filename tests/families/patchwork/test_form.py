"""The form follows a family's features, told by an engine process that has the family."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.engine.connection import EngineCommand
from engine.api.values import SamplerName
from tests.app.known_hardware import write_verdicts
from tests.families.patchwork.files import write_checkpoint
from tests.families.patchwork.test_patchwork import PROCESS
from tests.forks import forked
from tests.ui.conftest import Desk
from tests.ui.test_features import offered
from ui.labels import cut_text, token_count
from ui.theme.theme import Theme


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, theme: Theme
) -> Iterator[Desk]:
    """The window on the real engine with Patchwork, in folders of its own."""
    for name in ("OUTPUT", "CACHE", "MODELS", "STATE", "LOGS"):
        monkeypatch.setenv(f"SAFELIGHT_{name}", str(tmp_path / name.lower()))
    write_verdicts(tmp_path / "cache")
    program, *arguments = forked(*PROCESS[2:])
    desk = Desk(tmp_path, qtbot, theme, EngineCommand(program, tuple(arguments)))
    yield desk
    desk.end()


def test_a_form_offers_what_the_chosen_model_has(desk: Desk, tmp_path: Path) -> None:
    desk.start()
    form, state = desk.window.form, desk.session.generation
    assert form.negative_panel.isVisibleTo(form)
    state.negative_prompt = "blurry"
    state.checkpoint = write_checkpoint(tmp_path / "models" / "patchwork.safetensors")
    desk.wait(lambda: not state.suggestions.features.negative_prompt)
    assert not form.negative_panel.isVisibleTo(form)
    assert form.picture_size.width_field.singleStep() == 16
    assert form.checkpoint.about.text().startswith("Patchwork · ")
    samplers = offered(form.advanced.rows.method.sampler)
    assert SamplerName.EULER in samplers
    assert SamplerName.LCM not in samplers
    assert state.build_request().negative_prompt == ""


def test_a_prompt_is_counted_as_the_chosen_model_reads_it(desk: Desk, tmp_path: Path) -> None:
    desk.start()
    state, prompt = desk.session.generation, desk.session.prompts.prompt
    state.prompt = "a red house at the sea"
    desk.wait(lambda: (prompt.check.used, prompt.check.capacity) == (6, 75))
    state.checkpoint = write_checkpoint(tmp_path / "models" / "patchwork.safetensors")
    desk.wait(lambda: (prompt.check.used, prompt.check.capacity) == (22, 40))
    assert cut_text(prompt.check) == ""
    state.prompt = "a red house at the sea in the evening and two dogs"
    desk.wait(lambda: token_count(prompt.check) == "50 of 40 tokens")
    assert prompt.check.cut_at == 40
    assert cut_text(prompt.check) == "The last 3 words have no effect."
