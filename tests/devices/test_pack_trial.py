"""The verdict on a pack: only what works, or finds nothing to work on, is used."""

import pytest

from engine.api.machine import PrecisionFigures
from engine.devices.pack_trial import judged
from engine.devices.verdicts import BackendReport, TriedDevice

RIGHT = TriedDevice(
    id="0", name="Card", figures=(PrecisionFigures(precision="f16", milliseconds=5),)
)
WRONG = TriedDevice(
    id="0", name="Card", figures=(PrecisionFigures(precision="f16", problem="it is off by 9 %"),)
)
CRASHED = TriedDevice(id="0", name="Card", problem="It crashed (SIGSEGV).")
ABSENT = TriedDevice(id="0", name="AMD graphics", unusable="no AMD graphics card found")


def report(*devices: TriedDevice, problem: str = "") -> BackendReport:
    return BackendReport(backend="webgpu", fingerprint="", devices=devices, problem=problem)


@pytest.mark.parametrize(
    ("reports", "works", "words"),
    [
        ([report(RIGHT)], True, "WebGPU on Card: Its results are correct: f16 in 5.0 ms."),
        ([report(ABSENT)], True, "starts, and has no device here yet: no AMD graphics card found."),
        ([report(WRONG)], False, "WebGPU on Card: It failed: f16: it is off by 9 %."),
        ([report(CRASHED)], False, "WebGPU on Card: It crashed (SIGSEGV)."),
        ([report(problem="It did not answer for 120 s.")], False, "It did not answer for 120 s."),
        # Another card of the machine may be too old.
        ([report(CRASHED, RIGHT)], True, "WebGPU on Card: Its results are correct"),
        # ONNX Runtime on the processor fails with this build.
        ([report(RIGHT), report(WRONG)], False, "it is off by 9 %"),
        ([], True, "It starts."),
    ],
    ids=["right", "no card", "wrong", "crash", "hang", "one of two", "one backend", "nothing"],
)
def test_a_pack_is_judged_by_its_backends(
    reports: list[BackendReport], works: bool, words: str
) -> None:
    verdict = judged(reports)
    assert verdict.works is works
    assert words in verdict.sentence
