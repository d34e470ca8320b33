"""A machine whose devices were tried already, so that no test waits for that."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.registry import BACKENDS
from engine.api.machine import PrecisionFigures
from engine.devices.fingerprint import machine_fingerprint
from engine.devices.verdicts import BackendReport, TriedDevice, VerdictStore

_FILE = "devices.json"


def write_verdicts(folder: Path, *, untried: str = "") -> None:
    """The processor works here, and nothing else that "auto" may choose.

    OpenVINO is there for those that ask for it. `untried` names a backend that is left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _FILE).write_bytes(_verdicts(untried))


@cache
def _verdicts(untried: str) -> bytes:
    """Return the stored verdicts; made once for all tests.

    Each is written durably, and listing what this machine has takes longer than many a test.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / _FILE
        _keep_verdicts(VerdictStore(path, machine_fingerprint()), untried)
        return path.read_bytes()


def _keep_verdicts(store: VerdictStore, untried: str) -> None:
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
        if reference.automatic and reference.name != untried:
            store.keep(report)
