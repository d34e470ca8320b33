"""The long-lived objects that hold the application's state."""

import msgspec

from app.background import Background
from app.engine.client import EngineClient
from app.engine.status import EngineStatus
from app.form.changes import FormChanges
from app.form.generation import GenerationState
from app.library.checkpoint_store import CheckpointStore
from app.library.output_pictures import OutputPictures
from app.notices.notices import NoticeState
from app.queue.job_queue import JobQueue
from app.queue.progress import ProgressState
from app.view import ViewState


class AppState(msgspec.Struct, frozen=True):
    """The state that commands read and change; the window draws it."""

    background: Background
    client: EngineClient
    engine: EngineStatus
    queue: JobQueue
    progress: ProgressState
    form: GenerationState
    changes: FormChanges
    checkpoints: CheckpointStore
    output_pictures: OutputPictures
    view: ViewState
    notices: NoticeState
