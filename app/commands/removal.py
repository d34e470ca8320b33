"""The notice of jobs that were taken off the queue, with which they are put back."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.notices.notices import NoticeState
from app.notices.remedies import NoticeAction
from app.queue.job_queue import JobQueue
from app.queue.jobs import Job

translate = QCoreApplication.translate


def tell_removed(queue: JobQueue, notices: NoticeState, jobs: Sequence[Job]) -> None:
    """Tell of jobs that waited and were cancelled; undo lets them wait again in their places."""

    def undo() -> None:
        queue.in_turns(queue.retry(job.id) for job in jobs)

    if len(jobs) == 1:
        message = translate("queue", "A picture is removed from the queue.")
    else:
        text = translate("queue", "{n} pictures are removed from the queue.")
        message = text.format(n=len(jobs))
    notices.tell(message, actions=(NoticeAction.UNDO_CHANGE,), undo=undo)
