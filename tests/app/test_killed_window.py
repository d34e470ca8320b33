"""A window that is killed without warning comes back as it was a second before."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.form.fields import Form
from app.form.generation import Choices, GenerationState
from app.form.last_session import read_last_session
from app.form.model_settings import ModelSettingsMemory
from app.form.presets import PresetStore
from app.form.prompt_history import PromptHistory
from engine.api.request import InputImage
from engine.api.values import InputRole, SamplerName
from tests.app.folders import folders_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
OTHER = Path("/models/other.safetensors")
# A second passes between what the user did and the line that this process waits for.
EDITING = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from app.__main__ import make_session
from app.form.presets import PresetPart
from engine.api.request import InputImage
from engine.api.values import InputRole, SamplerName
from tests.app.folders import folders_in

application = QCoreApplication([])
session = make_session(folders_in(Path(sys.argv[1])))
form = session.generation
form.steps = 9
session.presets.save("mine", [PresetPart.SETTINGS])
session.earlier.history.add("a harbour", "blurry")
session.checkpoint.choose(Path("/models/other.safetensors"))
form.prompt, form.negative_prompt, form.seed, form.seed_locked = "a mill", "fog", 2**64 - 1, True
form.inputs = (
    InputImage(role=InputRole.INIT, path="/a.png"),
    InputImage(role=InputRole.MASK, path="/mask.png"),
)
form.sampler, form.count = SamplerName.EULER, 4
QTimer.singleShot(1000, lambda: print("late", flush=True))
application.exec()
"""


def test_everything_is_as_it_was_a_second_before_the_kill(tmp_path: Path, qtbot: object) -> None:
    editor = subprocess.Popen(
        [sys.executable, "-c", EDITING, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[2],
    )
    assert editor.stdout is not None
    assert editor.stdout.readline() == b"late\n"
    editor.send_signal(signal.SIGKILL)
    editor.communicate()
    state = folders_in(tmp_path).state
    last, problem = read_last_session(state)
    assert problem is None
    assert last is not None
    assert last.form == Form(
        prompt="a mill",
        negative_prompt="fog",
        checkpoint=OTHER,
        seed=2**64 - 1,
        seed_locked=True,
        count=4,
        sampler=SamplerName.EULER,
        inputs=(
            InputImage(role=InputRole.INIT, path="/a.png"),
            InputImage(role=InputRole.MASK, path="/mask.png"),
        ),
    )
    starter = Path("/starter")
    models = ModelSettingsMemory(state, GenerationState(starter), starter)
    assert models.of(starter) == Choices(steps=9)
    assert models.of(OTHER) == Choices(sampler=SamplerName.EULER)
    assert [preset.name for preset in PresetStore(state).presets] == ["mine"]
    assert [prompt.texts for prompt in PromptHistory(state).prompts] == [("a harbour", "blurry")]
