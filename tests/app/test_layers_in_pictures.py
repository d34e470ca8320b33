"""A control layer of the form, from the user's folder to the pixels and the record of a picture."""

from pathlib import Path

from PIL import Image

from engine.api.control import ControlLayer
from engine.api.preprocessors import InvertOptions
from engine.metadata.readers import read_request
from tests.app.sessions import Staged
from tests.pipeline.control_files import write_control_net
from tests.tiny_checkpoint import SIDE, write_checkpoint


def make(staged: Staged, number: int) -> Path:
    staged.session.jobs.generate()
    job = staged.wait_for_jobs(number)[-1]
    assert job.error is None, job.error
    (picture,) = job.images
    return Path(picture)


def test_a_layer_from_the_users_folder_leads_the_picture_and_is_in_its_record(
    staged: Staged, tmp_path: Path
) -> None:
    models = staged.paths.models
    checkpoint = write_checkpoint(models / "tiny")
    (models / "controlnet").mkdir()
    write_control_net(models / "controlnet" / "mine_canny.safetensors", checkpoint, 0)
    drawing = tmp_path / "drawing.png"
    lines = Image.new("RGB", (64, 64), "white")
    lines.paste("black", (16, 16, 48, 48))
    lines.save(drawing)
    session, form = staged.start().session, staged.session.generation
    session.control_list.list_files()
    staged.wait(lambda: [info.is_read for info in session.control_list.offered] == [True])
    session.checkpoint.open(checkpoint)
    form.width = form.height = SIDE
    form.steps, form.seed, form.seed_locked = 2, 7, True
    staged.wait(lambda: not form.suggestions.is_guess and session.control_list.family == "sd1")
    session.control.add(str(drawing))
    # The only network that suits the model is chosen, once the list of files is complete.
    staged.wait(
        lambda: [Path(layer.network or "").stem for layer in form.controls] == ["mine_canny"]
    )
    (layer,) = form.controls
    session.control.change(0, preprocessor=InvertOptions())
    led = make(staged, 1)
    request = read_request(led).request
    assert request is not None
    assert [(control.image, control.network) for control in request.controls] == [
        (str(drawing), layer.network)
    ]
    session.control.change(0, enabled=False)
    plain = make(staged, 2)
    assert Image.open(led).tobytes() != Image.open(plain).tobytes()
    session.pictures.use_settings(led)
    staged.wait(lambda: form.controls == request.controls)
    assert isinstance(form.controls[0], ControlLayer)
