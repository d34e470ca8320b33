"""Each remedy of a failure, pressed in a window whose engine failed: it mends, or leads to it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog

from app.notices.remedies import NoticeAction
from app.queue.jobs import Job, JobState
from engine.api.remedies import (
    ChooseCheckpoint,
    ChooseFolder,
    DeclareFamily,
    InstallPack,
    InvertMask,
    MakeSmaller,
    MoveKept,
    NameLoraFolder,
    PartFile,
    RaiseMemoryLimit,
    Remedy,
    SupplyParts,
)
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo, InputRole
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.app.test_error_kinds import OF_NOTES
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.devices import DEVICES
from ui.dialogs.checkpoint_dialog import CheckpointDialog
from ui.dialogs.device_dialog import DeviceDialog
from ui.dialogs.lora_folders_dialog import LoraFoldersDialog
from ui.dialogs.runtimes_dialog import RuntimesDialog
from ui.dialogs.updates_dialog import UpdatesDialog
from ui.panels.notice_card import NoticeCard
from ui.places import Place

# The windows that remedies open come to the front.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PANEL = "ui.panels.notice_panel.FileChooser"
A = NoticeAction


def failed(
    make_desk: MakeDesk,
    code: ErrorCode,
    *remedies: Remedy,
    request: GenerateRequest | None = None,
    again: Plan | None = None,
) -> Desk:
    """A desk on which a picture has failed, and the next one does not."""
    error = ErrorInfo(code, "It did not work.", remedies=remedies)
    plan = again or Plan(job_error=error)
    desk = make_desk(plan).start()
    desk.session.devices.devices = DEVICES
    form = desk.session.generation
    form.prompt, form.width, form.height = "a quiet harbour", 512, 512
    if request is None:
        desk.session.jobs.generate()
    else:
        desk.queue.submit(request, desk.session.output_pictures.folder)
    desk.wait_for_jobs(1)
    desk.wait(lambda: bool(desk.window.notices.cards))
    return desk


def card(desk: Desk) -> NoticeCard:
    """The card of the failure."""
    return desk.window.notices.cards[0]


def press(desk: Desk, action: NoticeAction) -> None:
    card(desk).remedies[action].click()


def made(desk: Desk) -> Job:
    """The failed job, once it is made after all."""
    desk.wait(lambda: desk.queue.jobs[0].state is JobState.DONE)
    assert all(card.notice.error is None for card in desk.window.notices.cards)
    return desk.queue.jobs[0]


def opened(desk: Desk, kind: type[QDialog]) -> None:
    """Expect a window of this kind, and the failure behind it to be mended from."""
    dialog = desk.window.findChild(kind)
    assert dialog is not None
    assert dialog.isVisible()
    assert [job.state for job in desk.queue.jobs] == [JobState.FAILED]
    dialog.close()
    press(desk, A.RETRY)
    made(desk)


def answering(answer: object) -> Callable[..., object]:
    """A dialog of the system in which a person gives this answer."""

    def answered(*_: object) -> object:
        return answer

    return answered


def chooses(patch: pytest.MonkeyPatch, answer: str) -> None:
    """Have a person choose this file or folder."""
    patch.setattr(f"{PANEL}.open_file", answering(answer))
    patch.setattr(f"{PANEL}.open_folder", answering(answer))


def retry(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.INTERNAL)
    before = desk.queue.jobs[0].request
    press(desk, A.RETRY)
    assert made(desk).request == before


def retry_smaller(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.OUT_OF_MEMORY, MakeSmaller(width=512, height=512))
    press(desk, A.RETRY_SMALLER)
    assert made(desk).request.width == 384


def retry_unlimited(make_desk: MakeDesk, *_: object) -> None:
    limited = GenerateRequest(prompt="a harbour", memory_limit_bytes=1 << 30)
    desk = failed(make_desk, ErrorCode.OUT_OF_MEMORY, RaiseMemoryLimit(), request=limited)
    press(desk, A.RETRY_UNLIMITED)
    assert generation_of(made(desk)).memory_limit_bytes is None


def retry_inverted(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.REQUEST_INVALID, InvertMask())
    press(desk, A.RETRY_INVERTED)
    assert generation_of(made(desk)).mask_options.inverted


def retry_new_seed(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.NUMERIC_FAILURE)
    seed = generation_of(desk.queue.jobs[0]).seed
    press(desk, A.RETRY_NEW_SEED)
    assert generation_of(made(desk)).seed not in (None, seed)


def retry_on_another(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.BACKEND_FAILED)
    button = card(desk).remedies[A.RETRY_ON_ANOTHER]
    assert button.text() == "Make it with CUDA"
    button.click()
    assert made(desk).request.backend == DEVICES[1].backend


def free_memory(make_desk: MakeDesk, folder: Path, _: object) -> None:
    error = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "No memory.")
    again = Plan(job_error=error, job_errors=10, once=str(folder / "once"))
    desk = failed(make_desk, ErrorCode.OUT_OF_MEMORY, again=again)
    assert desk.process.hello is not None
    before = desk.process.hello.pid
    press(desk, A.FREE_MEMORY)
    made(desk)
    assert desk.process.hello.pid != before


def choose_folder(make_desk: MakeDesk, folder: Path, patch: pytest.MonkeyPatch) -> None:
    desk = failed(make_desk, ErrorCode.OUTPUT_NOT_WRITABLE)
    chooses(patch, str(folder / "elsewhere"))
    press(desk, A.CHOOSE_FOLDER)
    assert Path(made(desk).images[0]).parent == folder / "elsewhere"


def edit(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.REQUEST_INVALID)
    desk.session.generation.prompt = "something else"
    desk.window.places.open(Place.SETTINGS)
    press(desk, A.EDIT)
    assert desk.session.generation.prompt == "a quiet harbour"
    assert desk.window.places.place is Place.CREATE
    desk.wait(lambda: desk.queue.jobs == ())


def supply_parts(make_desk: MakeDesk, folder: Path, patch: pytest.MonkeyPatch) -> None:
    vae = str(folder / "fits.safetensors")
    fits = SupplyParts(components=("vae",), files=(PartFile(component="vae", path=vae),))
    desk = failed(make_desk, ErrorCode.CHECKPOINT_INCOMPLETE, fits)
    button = card(desk).remedies[A.SUPPLY_PARTS]
    assert button.text() == "Use fits.safetensors"
    button.click()
    assert generation_of(made(desk)).components.vae == vae
    assert desk.session.generation.declaration.components.vae == vae


def find_checkpoint(make_desk: MakeDesk, folder: Path, patch: pytest.MonkeyPatch) -> None:
    gone = GenerateRequest(prompt="a harbour", checkpoint=str(folder / "gone.safetensors"))
    desk = failed(make_desk, ErrorCode.CHECKPOINT_NOT_FOUND, request=gone)
    other = desk.session.generation.checkpoint
    chooses(patch, str(folder / "moved.safetensors"))
    press(desk, A.FIND_CHECKPOINT)
    assert generation_of(made(desk)).checkpoint == str(folder / "moved.safetensors")
    # The form has another model, which nobody lost.
    assert desk.session.generation.checkpoint == other


def test_a_model_that_was_a_folder_is_looked_for_among_folders_where_it_was(
    make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = GenerateRequest(prompt="a harbour", checkpoint=str(tmp_path / "sd-v1.5"))
    desk = failed(make_desk, ErrorCode.CHECKPOINT_NOT_FOUND, request=gone)
    asked: list[object] = []

    def folder(*question: object) -> str:
        asked.extend(question)
        return str(tmp_path / "moved")

    monkeypatch.setattr("ui.model_folder.FileChooser.open_folder", folder)
    press(desk, A.FIND_CHECKPOINT)
    assert generation_of(made(desk)).checkpoint == str(tmp_path / "moved")
    assert asked[1:] == ["Find sd-v1.5", str(tmp_path)]


def choose_checkpoint(make_desk: MakeDesk, folder: Path, patch: pytest.MonkeyPatch) -> None:
    desk = failed(make_desk, ErrorCode.CHECKPOINT_CORRUPT, ChooseCheckpoint())
    chooses(patch, str(folder / "other.safetensors"))
    press(desk, A.CHOOSE_CHECKPOINT)
    assert desk.session.generation.checkpoint == folder / "other.safetensors"
    # The picture that failed is made with it.
    assert generation_of(made(desk)).checkpoint == str(folder / "other.safetensors")
    assert all(notice_card.notice.error is None for notice_card in desk.window.notices.cards)


def about_checkpoint(make_desk: MakeDesk, *_: object) -> None:
    unclear = DeclareFamily(families=("sdxl",))
    desk = failed(make_desk, ErrorCode.CHECKPOINT_UNREADABLE, unclear)
    press(desk, A.ABOUT_CHECKPOINT)
    opened(desk, CheckpointDialog)


def choose_start_picture(make_desk: MakeDesk, folder: Path, patch: pytest.MonkeyPatch) -> None:
    desk = failed(make_desk, ErrorCode.INPUT_IMAGE_UNREADABLE)
    picture = folder / "start.png"
    Image.new("RGB", (64, 64)).save(picture)
    patch.setattr("ui.panels.picture_question.FileChooser.open_file", answering(str(picture)))
    press(desk, A.CHOOSE_START_PICTURE)
    desk.wait(lambda: desk.session.generation.input_path(InputRole.INIT) == str(picture))


def open_picture(make_desk: MakeDesk, folder: Path, patch: pytest.MonkeyPatch) -> None:
    desk = make_desk().start()
    desk.session.notices.tell_error(ErrorInfo(ErrorCode.METADATA_MISSING, "No settings."))
    file = folder / "other.safetensors"
    patch.setattr("ui.main_window.FileChooser.open_file", answering(str(file)))
    press(desk, A.OPEN_PICTURE)
    desk.wait(lambda: desk.session.generation.checkpoint == file)


def start_from(make_desk: MakeDesk, folder: Path, *_: object) -> None:
    desk = make_desk().start()
    photo = folder / "photo.png"
    Image.new("RGB", (64, 64)).save(photo)
    desk.window.places.open(Place.MODELS)
    desk.session.open_file(photo)
    desk.wait(lambda: bool(desk.window.notices.cards))
    press(desk, A.START_FROM)
    desk.wait(lambda: desk.session.generation.input_path(InputRole.INIT) == str(photo))
    assert desk.window.places.place is Place.CREATE
    assert not [notice for notice in desk.session.notices.notices if notice.error is not None]


def check_devices(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.BACKEND_UNAVAILABLE)
    told: list[bool] = []
    desk.session.devices.checking_changed.connect(told.append)
    press(desk, A.CHECK_DEVICES)
    assert told[:1] == [True]
    press(desk, A.RETRY)
    made(desk)


def free_space(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.DISK_FULL)
    press(desk, A.FREE_SPACE)
    opened(desk, DeviceDialog)


def lora_folders(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.INTERNAL, NameLoraFolder())
    press(desk, A.LORA_FOLDERS)
    opened(desk, LoraFoldersDialog)


def runtimes(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.BACKEND_UNAVAILABLE, InstallPack(pack="openvino"))
    desk.session.devices.devices = ()
    press(desk, A.RUNTIMES)
    dialog = desk.window.findChild(RuntimesDialog)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.close()


def updates(make_desk: MakeDesk, *_: object) -> None:
    desk = failed(make_desk, ErrorCode.ENGINE_NOT_STARTED)
    press(desk, A.UPDATES)
    opened(desk, UpdatesDialog)


def shown_folders(patch: pytest.MonkeyPatch) -> list[str]:
    """The folders that the window asks the system to show from now on."""
    shown: list[str] = []

    def show(url: QUrl) -> bool:
        shown.append(url.toLocalFile())
        return True

    patch.setattr(QDesktopServices, "openUrl", show)
    return shown


def show_state(make_desk: MakeDesk, _: object, patch: pytest.MonkeyPatch) -> None:
    desk = make_desk().start()
    desk.session.notices.tell_error(ErrorInfo(ErrorCode.QUEUE_UNREADABLE, "It is damaged."))
    shown = shown_folders(patch)
    press(desk, A.SHOW_STATE)
    assert shown == [str(desk.paths.state)]


def show_settings(make_desk: MakeDesk, _: object, patch: pytest.MonkeyPatch) -> None:
    desk = make_desk().start()
    desk.paths.config.mkdir(exist_ok=True)
    desk.session.settings.path.write_text("look = [")
    desk.session.settings.look_again()
    desk.wait(lambda: bool(desk.session.notices.notices))
    shown = shown_folders(patch)
    press(desk, A.SHOW_SETTINGS)
    assert shown == [str(desk.paths.config)]


Proof = Callable[[MakeDesk, Path, pytest.MonkeyPatch], None]
PROOFS: dict[NoticeAction, Proof] = {
    A.RETRY: retry,
    A.RETRY_SMALLER: retry_smaller,
    A.RETRY_UNLIMITED: retry_unlimited,
    A.RETRY_INVERTED: retry_inverted,
    A.RETRY_NEW_SEED: retry_new_seed,
    A.RETRY_ON_ANOTHER: retry_on_another,
    A.FREE_MEMORY: free_memory,
    A.CHOOSE_FOLDER: choose_folder,
    A.EDIT: edit,
    A.SUPPLY_PARTS: supply_parts,
    A.FIND_CHECKPOINT: find_checkpoint,
    A.CHOOSE_CHECKPOINT: choose_checkpoint,
    A.ABOUT_CHECKPOINT: about_checkpoint,
    A.CHOOSE_START_PICTURE: choose_start_picture,
    A.START_FROM: start_from,
    A.OPEN_PICTURE: open_picture,
    A.CHECK_DEVICES: check_devices,
    A.FREE_SPACE: free_space,
    A.LORA_FOLDERS: lora_folders,
    A.RUNTIMES: runtimes,
    A.UPDATES: updates,
    A.SHOW_STATE: show_state,
    A.SHOW_SETTINGS: show_settings,
}


def test_no_remedy_is_left_unproven() -> None:
    assert set(PROOFS) == set(NoticeAction) - OF_NOTES, "a button has its proof in PROOFS here"


@pytest.mark.parametrize("action", PROOFS)
def test_each_remedy_mends_its_failure(
    action: NoticeAction, make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PROOFS[action](make_desk, tmp_path, monkeypatch)


def test_a_part_without_a_fitting_file_is_chosen(
    make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = failed(make_desk, ErrorCode.CHECKPOINT_INCOMPLETE, SupplyParts(components=("vae",)))
    assert card(desk).remedies[A.SUPPLY_PARTS].text() == "Choose a file with it…"
    chooses(monkeypatch, "")
    press(desk, A.SUPPLY_PARTS)
    assert desk.queue.jobs[0].state is JobState.FAILED
    chooses(monkeypatch, str(tmp_path / "some.safetensors"))
    press(desk, A.SUPPLY_PARTS)
    assert generation_of(made(desk)).components.vae == str(tmp_path / "some.safetensors")


def test_a_failure_shows_three_remedies_at_most_the_best_first(make_desk: MakeDesk) -> None:
    desk = failed(
        make_desk,
        ErrorCode.OUT_OF_MEMORY,
        MakeSmaller(width=512, height=512),
        RaiseMemoryLimit(),
    )
    shown = card(desk).remedies
    assert list(shown) == [A.RETRY_SMALLER, A.RETRY_UNLIMITED, A.FREE_MEMORY]
    roles = [button.property("role") for button in shown.values()]
    assert roles == ["action", None, None]


def test_a_picture_that_the_queue_makes_smaller_has_not_failed_any_more(
    make_desk: MakeDesk,
) -> None:
    desk = failed(make_desk, ErrorCode.OUT_OF_MEMORY, MakeSmaller(width=512, height=512))
    desk.session.jobs_in_queue.retry_smaller([desk.queue.jobs[0].id])
    assert generation_of(made(desk)).width == 384


def unsaved(make_desk: MakeDesk, kept: Path) -> Desk:
    """A desk whose picture is finished, and was kept where it was not meant to be."""
    kept.parent.mkdir(exist_ok=True)
    Image.new("RGB", (8, 8), "teal").save(kept)
    return failed(make_desk, ErrorCode.DISK_FULL, MoveKept(path=str(kept)), ChooseFolder())


def test_a_finished_picture_is_moved_to_another_folder_and_not_made_again(
    make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, elsewhere = tmp_path / "kept" / "1.png", tmp_path / "elsewhere"
    desk = unsaved(make_desk, kept)
    assert "kept in" in card(desk).hint.text()
    content = kept.read_bytes()
    chooses(monkeypatch, str(elsewhere))
    press(desk, A.CHOOSE_FOLDER)
    assert made(desk).images == (str(elsewhere / "1.png"),)
    assert (elsewhere / "1.png").read_bytes() == content
    assert not kept.exists()
    assert desk.queue.jobs[0].attempts == 1
    # From now on, in the gallery and after the next start.
    assert desk.session.settings.now.pictures_folder == str(elsewhere)
    assert [folder.path for folder in desk.session.gallery_index.folders] == [elsewhere]


def test_a_finished_picture_is_moved_once_there_is_room(
    make_desk: MakeDesk, tmp_path: Path
) -> None:
    kept = tmp_path / "kept" / "1.png"
    desk = unsaved(make_desk, kept)
    folder = desk.session.output_pictures.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Nothing can be put below a file, whoever one is.
    folder.write_bytes(b"")
    press(desk, A.RETRY)
    desk.wait(lambda: bool(desk.window.notices.cards))
    assert desk.queue.jobs[0].state is JobState.FAILED
    folder.unlink()
    press(desk, A.RETRY)
    assert made(desk).images == (str(folder / "1.png"),)
    # It is on the canvas, as one that was just made, and its actions are offered.
    assert desk.session.view.path == str(folder / "1.png")
    desk.wait(desk.window.create_page.info.use.isVisible)


def test_a_finished_picture_is_moved_from_the_queue_as_well(
    make_desk: MakeDesk, tmp_path: Path
) -> None:
    """The queue's "Try again" made it anew, which takes minutes, and left the finished one."""
    kept = tmp_path / "kept" / "1.png"
    desk = unsaved(make_desk, kept)
    desk.session.jobs_in_queue.retry([desk.queue.jobs[0].id])
    job = made(desk)
    assert job.images == (str(desk.session.output_pictures.folder / "1.png"),)
    assert job.attempts == 1
    assert not kept.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that cannot be made")
def test_a_finished_picture_is_not_made_again_where_the_folder_has_no_place(
    make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, elsewhere = tmp_path / "kept" / "1.png", tmp_path / "elsewhere"
    desk = unsaved(make_desk, kept)
    # "No such file" is said of a folder there, as Windows says it of a drive that is gone.
    chooses(monkeypatch, "/proc/nowhere")
    press(desk, A.CHOOSE_FOLDER)
    desk.wait(lambda: bool(desk.window.notices.cards))
    assert desk.queue.jobs[0].state is JobState.FAILED
    assert kept.exists()
    chooses(monkeypatch, str(elsewhere))
    press(desk, A.CHOOSE_FOLDER)
    assert made(desk).images == (str(elsewhere / "1.png"),)
    assert desk.queue.jobs[0].attempts == 1


def test_a_finished_picture_that_somebody_took_is_made_again(
    make_desk: MakeDesk, tmp_path: Path
) -> None:
    kept = tmp_path / "kept" / "1.png"
    desk = unsaved(make_desk, kept)
    kept.unlink()
    press(desk, A.RETRY)
    assert made(desk).images
