"""Every remedy has words for the window and for the command line, and crosses every boundary."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from app.cli import remedy_words as command_line
from app.notices import remedies as window
from app.notices.kinds import actions
from app.notices.remedies import NoticeAction
from app.queue.job_list import Entry
from app.queue.jobs import Failed
from app.queue.queue_journal import queue_journal
from app.storage.journal import VERSION
from engine.api.messages import JobFailed
from engine.api.remedies import (
    CheckDevices,
    ChooseCheckpoint,
    ChooseFolder,
    ChooseStartPicture,
    DeclareControlKind,
    DeclareFamily,
    FreeCache,
    InstallPack,
    InvertMask,
    MakeSmaller,
    MoveKept,
    NameLoraFolder,
    PartFile,
    RaiseMemoryLimit,
    Remedy,
    SaveHeld,
    StartFrom,
    SupplyParts,
    UseAnotherDevice,
    UseAnyDevice,
    UseAsPart,
)
from engine.api.texts import encode_json
from engine.api.values import ErrorCode, ErrorInfo
from engine.api.wire import FrameParser, decode_event, encode

EACH: tuple[Remedy, ...] = (
    ChooseFolder(),
    MoveKept(path="/tmp/kept/00001.png"),
    ChooseCheckpoint(),
    ChooseStartPicture(),
    StartFrom(path="/pictures/a photo.jpg"),
    InvertMask(),
    MakeSmaller(width=512, height=768),
    RaiseMemoryLimit(),
    FreeCache(),
    UseAnyDevice(),
    UseAnotherDevice(),
    CheckDevices(),
    InstallPack(pack="webgpu"),
    SupplyParts(
        components=("text_encoder", "vae"),
        files=(PartFile(component="vae", path="/models/it's a vae.safetensors"),),
    ),
    UseAsPart(components=("text_encoder", "text_encoder_2")),
    DeclareFamily(families=("sdxl", "sdxl_refiner")),
    DeclareControlKind(kinds=("pose", "depth")),
    NameLoraFolder(),
    SaveHeld(),
)
_HEADER = b'{"journal":%d}\n' % VERSION
WHOLE = ErrorInfo(ErrorCode.REQUEST_INVALID, "No.", "Since not.", "detail", EACH)
# Of a terminal: options, backquotes, a package's installer, words for what has no control here.
_FOREIGN = re.compile(r"--|`|\bpip\b|\bFILE\b|\bbackend\b|\bsafelight \w", re.ASCII)


def names(remedies: tuple[Remedy, ...]) -> list[str]:
    return [type(remedy).__name__ for remedy in remedies]


def test_none_is_left_out_here() -> None:
    assert {type(remedy) for remedy in EACH} == set(get_args(Remedy))


@pytest.mark.parametrize("remedy", EACH, ids=names(EACH))
def test_each_is_worded_for_the_window_and_for_the_command_line(remedy: Remedy) -> None:
    for words in (window.remedy_words(remedy), command_line.remedy_words(remedy)):
        assert len(words) > 8
        assert words[-1] == "." or "safetensors" in words


@pytest.mark.parametrize("remedy", EACH, ids=names(EACH))
def test_the_window_names_nothing_of_the_command_line(remedy: Remedy) -> None:
    assert not _FOREIGN.search(window.remedy_words(remedy))


def test_the_command_line_says_how() -> None:
    said = command_line.advice(WHOLE)
    assert said.startswith("Since not. Choose another folder with --out. The picture was kept as ")
    for part in (
        "/tmp/kept/00001.png. Choose one with --model.",
        "--init FILE",
        "--mask-invert",
        "`safelight devices --recheck`",
        "Install it: `safelight packs install webgpu`, 7 MB.",
        "--text-encoder FILE --vae FILE:",
        "--vae '/models/it'\"'\"'s a vae.safetensors'",
        "--text-encoder FILE or --text-encoder-2 FILE.",
        "--family, one of sdxl, sdxl_refiner.",
    ):
        assert part in said


def test_the_window_adds_its_own_words_to_the_hint() -> None:
    error = ErrorInfo(ErrorCode.DISK_FULL, "Full.", "Free some space.", remedies=(ChooseFolder(),))
    assert window.advice(error) == "Free some space. Choose another folder for pictures."


def test_remedies_cross_the_wire() -> None:
    event = JobFailed(job="a-0", error=WHOLE)
    (frame,) = FrameParser().feed(encode(event))
    assert decode_event(frame) == event


def journal_of(path: Path, *lines: bytes) -> tuple[Entry, ...]:
    path.write_bytes(b"".join(lines))
    return queue_journal(path.parent).read().entries


def test_remedies_are_kept_in_the_journal(tmp_path: Path) -> None:
    entry = Failed(job="a-0", error=WHOLE)
    path = tmp_path / "queue.jsonl"
    assert journal_of(path, _HEADER, encode_json(entry) + b"\n") == (entry,)


def test_a_journal_from_before_there_were_any_is_read(tmp_path: Path) -> None:
    old = (
        b'{"type":"Failed","job":"a-0","error":{"code":"output_not_writable","message":"Nothing '
        b'can be written.","hint":"Choose another folder with --out.","detail":""}}\n'
        b'{"type":"Retried","job":"a-0"}\n'
    )
    failed, retried = journal_of(tmp_path / "queue.jsonl", _HEADER, old)
    assert isinstance(failed, Failed)
    assert failed.error.remedies == ()
    assert failed.error.code is ErrorCode.OUTPUT_NOT_WRITABLE
    assert msgspec.structs.asdict(retried) == {
        "job": "a-0",
        "request": None,
        "folder": None,
        "upscale": None,
    }


@pytest.mark.parametrize(
    ("error", "offered"),
    [
        (
            ErrorInfo(ErrorCode.OUTPUT_NOT_WRITABLE, "No.", remedies=(ChooseFolder(),)),
            (NoticeAction.CHOOSE_FOLDER, NoticeAction.RETRY),
        ),
        (
            ErrorInfo(ErrorCode.OUT_OF_MEMORY, "No.", remedies=(MakeSmaller(), RaiseMemoryLimit())),
            (
                NoticeAction.RETRY_SMALLER,
                NoticeAction.RETRY_UNLIMITED,
                NoticeAction.FREE_MEMORY,
                NoticeAction.RETRY_ON_ANOTHER,
            ),
        ),
        (
            ErrorInfo(ErrorCode.BACKEND_FAILED, "No.", remedies=(UseAnotherDevice(),)),
            (NoticeAction.RETRY_ON_ANOTHER, NoticeAction.CHECK_DEVICES, NoticeAction.RETRY),
        ),
        (ErrorInfo(ErrorCode.CHECKPOINT_CORRUPT, "No."), (NoticeAction.CHOOSE_CHECKPOINT,)),
        # Trying again cannot help, but other settings can.
        (ErrorInfo(ErrorCode.REQUEST_INVALID, "No."), (NoticeAction.EDIT,)),
    ],
    ids=lambda value: value.code.value if isinstance(value, ErrorInfo) else None,
)
def test_a_failed_picture_is_offered_what_may_help(
    error: ErrorInfo, offered: tuple[NoticeAction, ...]
) -> None:
    assert actions(error, of_a_job=True) == offered


def test_without_a_picture_nothing_of_a_picture_is_offered() -> None:
    offered = actions(WHOLE, of_a_job=False)
    assert NoticeAction.CHECK_DEVICES in offered
    assert not set(offered) & window.OF_A_JOB
