"""The order in which several queries are answered."""

from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread

from engine.api.messages import CheckpointInspected, FamiliesKnown, InspectCheckpoint, Query
from engine.api.messages import Event as Message
from engine.jobs.runner import JobRunner
from engine.jobs.services import JobServices
from engine.server.answers import answer_all
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.test_identify import SMALL


def test_a_search_for_parts_lets_the_next_question_go_first(tmp_path: Path) -> None:
    """A person who chooses a checkpoint with gaps, then another, does not wait for the first."""
    models = tmp_path / "models"
    models.mkdir()
    for number in range(20):
        write_sparse(models / f"{number}.safetensors", {"a": (1,)})
    bare = write_sparse(tmp_path / "unet.safetensors", listings.ldm_unet(listings.SMALL_UNET))
    whole = write_sparse(tmp_path / "whole.safetensors", SMALL)
    queries: SimpleQueue[Query] = SimpleQueue()
    queries.put(InspectCheckpoint(query=1, path=str(bare)))
    queries.put(InspectCheckpoint(query=2, path=str(whole)))
    answered: list[int] = []
    both = Event()

    def put(event: Message) -> None:
        if isinstance(event, FamiliesKnown):
            assert answered == []
            return
        assert isinstance(event, CheckpointInspected)
        answered.append(event.query)
        if len(answered) == 2:
            both.set()

    runner = JobRunner(JobServices.in_cache(tmp_path / "cache", models=models))
    Thread(target=answer_all, args=(queries, runner, put), daemon=True).start()
    assert both.wait(60)
    assert answered == [2, 1]
    runner.close()
