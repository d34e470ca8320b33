"""A LoRA of the form is in the picture, and one that is switched off is not."""

from pathlib import Path

from PIL import Image

from app.form.lora_list import LoraFate
from app.paths import starter_checkpoint
from engine.api.record import GenerationRecord
from engine.metadata.readers import read_request
from tests.app.sessions import Staged
from tests.pipeline.lora_files import FileLora


def test_the_next_picture_is_made_with_what_is_switched_on(staged: Staged) -> None:
    session = staged.session
    folder = staged.paths.models / "Lora"
    lora = FileLora(folder / "style.safetensors", starter_checkpoint())
    staged.start()
    staged.wait(lambda: bool(session.loras.loras) and session.loras.loras[0].is_read)
    session.lora.add(str(lora.path))
    assert [row.fate for row in session.lora_list.rows] == [LoraFate.APPLIED]
    form = session.generation
    form.steps, form.width, form.height = 2, 64, 64
    form.seed, form.seed_locked = 7, True
    session.jobs.generate()
    staged.wait_for_jobs(1)
    session.lora.change(0, enabled=False)
    session.jobs.generate()
    with_it, without = (job.images[0] for job in staged.wait_for_jobs(2))
    (report,) = record(with_it).loras
    assert (report.path, report.applied_keys, report.total_keys) == (
        str(lora.path),
        lora.keys,
        lora.keys,
    )
    assert record(without).loras == ()
    assert Image.open(with_it).tobytes() != Image.open(without).tobytes()


def record(path: str) -> GenerationRecord:
    found = read_request(Path(path)).record
    assert found is not None
    return found
