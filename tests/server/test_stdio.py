"""The stream stays clean, whatever libraries print and whatever the environment says."""

import os
import sys
from pathlib import Path

from engine.api.messages import ImageSaved, JobFinished, Ping, Pong
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import ENGINE, scripted
from tests.server.scripted_engine import Plan


def test_output_of_libraries_goes_to_stderr(start: Start, job: MakeJob) -> None:
    talk = start(scripted(Plan(noisy=True)))
    talk.send(job("one"), job("two"))
    talk.wait_for(JobFinished, lambda event: event.job == "two")
    talk.shut_down()
    printed = talk.stderr()
    for noise in ("noise from a driver", "noise from a C library", "noise from Python"):
        assert noise in printed


def test_without_stderr_the_stream_is_still_clean(start: Start, job: MakeJob) -> None:
    command = scripted(Plan(noisy=True), new=True)
    talk = start(("/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *command))
    talk.send(job("one"))
    talk.wait_for(JobFinished)
    talk.shut_down()


def test_with_nothing_but_stdin_it_still_ends_when_that_does(start: Start) -> None:
    talk = start(
        ("/bin/sh", "-c", 'exec "$@" >&- 2>&-', "sh", *scripted(Plan(), new=True)), ready=False
    )
    talk.hang_up()
    assert talk.wait_for_end() == 0


def test_a_hostile_environment_changes_nothing(start: Start, job: MakeJob, tmp_path: Path) -> None:
    """Modules that shadow ours, in every place Python looks when it is not isolated."""
    trap = tmp_path / "trap"
    for name in ("engine", "msgspec", "numpy", "json", "sitecustomize", "usercustomize"):
        (trap / name).mkdir(parents=True)
        (trap / name / "__init__.py").write_text("raise SystemExit('trapped')")
        (tmp_path / f"{name}.py").write_text("raise SystemExit('trapped')")  # where it runs
    environment = os.environ | {
        "PYTHONHOME": str(trap),
        "PYTHONPATH": str(trap),
        "PYTHONSTARTUP": str(trap / "engine" / "__init__.py"),
        "PYTHONUSERBASE": str(trap),
        "PYTHONINSPECT": "1",
        "PYTHONIOENCODING": "ascii",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "error",
        "LD_LIBRARY_PATH": str(trap),
        "QT_PLUGIN_PATH": str(trap),
        "LC_ALL": "C",
    }
    talk = start(ENGINE, environment)
    talk.send(job("größe 模型", prompt="größe 模型 🐎"))
    talk.wait_for(JobFinished)
    assert talk.of(ImageSaved)[0].record.request.prompt == "größe 模型 🐎"
    talk.shut_down()


def test_the_command_line_runs_the_same_engine(start: Start, job: MakeJob) -> None:
    talk = start((sys.executable, "-I", "-m", "app", "engine", "--parent", str(os.getpid())))
    talk.send(Ping(sequence=1), job("one"))
    talk.wait_for(Pong)
    talk.wait_for(JobFinished)
    talk.shut_down()
