"""A machine whose devices were tried already, so that no test waits for that."""

from pathlib import Path

from backends.registry import BACKENDS
from engine.api.machine import PrecisionFigures
from engine.devices.fingerprint import machine_fingerprint
from engine.devices.verdicts import BackendReport, TriedDevice, VerdictStore


def write_verdicts(cache: Path) -> None:
    """The processor works here, and nothing else that "auto" may choose.

    OpenVINO is there for those that ask for it.
    """
    store = VerdictStore(cache / "devices.json", machine_fingerprint())
    figures = (PrecisionFigures(precision="f32", milliseconds=400.0),)
    processor = TriedDevice(id="cpu", name="processor", precisions=("f32",), figures=figures)
    asked_for = TriedDevice(id="cpu", name="processor", precisions=("f32",), automatic=False)
    found = {"cpu": (processor,), "intel_openvino": (asked_for,)}
    for reference in BACKENDS:
        devices = found.get(reference.name, ())
        report = BackendReport(
            backend=reference.name,
            fingerprint=store.fingerprint,
            devices=devices,
            problem="" if devices else "It is not for this test.",
        )
        if reference.automatic:
            store.keep(report)
