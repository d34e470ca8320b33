"""The commands beside `generate`."""

import hashlib
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from app.cli import COMMANDS, run
from app.library.checkpoints import find_checkpoint, list_checkpoints
from app.paths import find_paths, starter_checkpoint
from backends.base import Device
from backends.registry import BACKENDS, BackendReference
from engine.api.machine import PrecisionFigures
from engine.checkpoints.full_hash import FullHash
from engine.devices.choice import Devices
from engine.devices.fingerprint import machine_fingerprint
from engine.devices.verdicts import BackendReport, TriedDevice, VerdictStore
from tests.app.known_hardware import write_verdicts
from tests.single_file import write_single_file


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run([command, "--help"])
    assert ended.value.code == 0
    assert f"`safelight {command}" in capsys.readouterr().out


# Says which of what is heavy was imported.
HEAVY = """
import atexit, sys
from app.cli import run
atexit.register(lambda: print({"numpy", "engine.families"} & {*sys.modules}))
run(sys.argv[1:])
"""


@pytest.mark.parametrize("word", ["--help", "settings", "nonsense"])
def test_a_command_that_computes_nothing_imports_no_engine(word: str) -> None:
    command = [sys.executable, "-I", "-c", HEAVY, word]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.endswith("set()\n")


def test_devices_lists_every_backend_with_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    output = json_of(capsys, "devices")
    devices = output["devices"]
    assert {device["backend"] for device in devices} == {r.name for r in BACKENDS}
    assert all(device["usable"] or device["reason"] for device in devices)
    # The one that works is first, with what it was seen to need.
    assert devices[0]["backend"] == "cpu"
    assert devices[0]["figures"][0]["milliseconds"] == 400
    assert output["choice"] == "the only one that is known to work here"
    assert run(["devices"]) == 0
    out = capsys.readouterr().out
    assert "usable on request" in out
    assert "f32 400 ms" in out
    assert "not usable: It is not for this test." in out
    assert "auto takes cpu on processor: the only one that is known to work here." in out


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_a_missing_runtime_is_a_reason_not_a_crash(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "a house", "--backend", "torch_device"]) == 1
    assert "torch is not installed" in capsys.readouterr().err
    devices = json_of(capsys, "devices")["devices"]
    torch = next(device for device in devices if device["backend"] == "torch_device")
    assert not torch["usable"]
    assert torch["reason"].startswith("torch is not installed")


class Trials:
    """Finds the processor right, and counts how often it looked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, disturbed: bool = False) -> None:
        self.ran, self.disturbed = 0, disturbed
        monkeypatch.setattr("engine.devices.trials.Trials.run", self.run)
        monkeypatch.setattr("engine.devices.trials.Trials.list_devices", self.run)

    def run(self, reference: BackendReference, fingerprint: str, *_: object) -> BackendReport:
        self.ran += 1
        figures = (PrecisionFigures(precision="f32", milliseconds=3.25, difference=1e-6),)
        known = TriedDevice(
            id="cpu",
            name="processor",
            precisions=("f32",),
            figures=figures,
            disturbed=self.disturbed,
        )
        devices = (known,) if reference.name == "cpu" else ()
        return BackendReport(backend=reference.name, fingerprint=fingerprint, devices=devices)


def test_the_hardware_is_checked_once_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache" / "devices.json").unlink()
    trials = Trials(monkeypatch)
    arguments = ("generate", "a house", "--steps", "1", "--size", "64x64")
    assert run([*arguments, "--backend", "cpu"]) == 0
    assert trials.ran == 0  # who asks for one backend does not ask which is best
    capsys.readouterr()
    assert run(arguments) == 0
    first = trials.ran
    assert first > 0
    assert capsys.readouterr().err == "safelight: Checking your hardware, once.\n"
    result = json_of(capsys, *arguments)
    assert (result["backend"], trials.ran) == ("cpu", first)
    assert result["choice"] == "the only one that is known to work here"


def test_times_of_a_busy_computer_are_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache" / "devices.json").unlink()
    Trials(monkeypatch, disturbed=True)
    assert run(["devices"]) == 0
    told = capsys.readouterr().out
    assert "3.2 ms" in told
    assert "usable; measured while the computer was busy" in told
    by_name = {device["backend"]: device for device in json_of(capsys, "devices")["devices"]}
    # The second trial agreed.
    assert by_name["cpu"]["disturbed"] is False


def test_recheck_forgets_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = Trials(monkeypatch)
    cache = tmp_path / "cache"
    Devices(cache).note_failure(Device("cpu", "cpu", "processor"), "CUDA error 700")
    assert "CUDA error 700" in [d["failure"] for d in json_of(capsys, "devices")["devices"]]
    assert run(["devices"]) == 0
    assert "usable, but it failed in an earlier job: CUDA error 700" in capsys.readouterr().out
    assert trials.ran == 0
    devices = json_of(capsys, "devices", "--recheck")["devices"]
    assert trials.ran > 0
    assert {device["failure"] for device in devices} == {""}
    assert devices[0]["figures"][0]["milliseconds"] == 3.25


def test_where_it_cannot_be_checked_that_is_said_and_the_processor_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache" / "devices.json").unlink()

    def full(_folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.devices.choice.trial_network.network", full)
    assert run(["generate", "a house", "--steps", "1", "--size", "64x64"]) == 0
    assert "cannot be checked" in capsys.readouterr().err


def test_inspect_says_what_the_starter_is(capsys: pytest.CaptureFixture[str]) -> None:
    result = json_of(capsys, "inspect", "starter")
    assert (result["family"], result["missing"]) == ("sd1", [])
    assert [part["name"] for part in result["components"]] == ["text_encoder", "denoiser", "vae"]
    assert all(part["precisions"] == ["f16"] for part in result["components"])
    assert run(["inspect", "starter"]) == 0
    assert "sd1" in capsys.readouterr().out


def test_inspect_hashes_a_file_as_other_tools_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_single_file(tmp_path / "one.safetensors")
    assert json_of(capsys, "inspect", str(path))["sha256"] is None
    content = path.read_bytes()
    whole = hashlib.sha256(content).hexdigest()
    tensors = hashlib.sha256(content[8 + int.from_bytes(content[:8], "little") :]).hexdigest()
    assert json_of(capsys, "inspect", str(path), "--hash")["sha256"] == whole
    assert run(["inspect", str(path), "--hash"]) == 0
    out = capsys.readouterr().out
    assert f"{whole[:10]} (AutoV2), of {whole}" in out
    assert f"AutoV3         {tensors[:12]}" in out


def test_inspect_remembers_the_hash_of_a_file_that_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.checkpoints.known_files.SETTLED_NS", -(1 << 62))
    path = write_single_file(tmp_path / "one.safetensors")
    sha256 = json_of(capsys, "inspect", str(path), "--hash")["sha256"]
    assert json_of(capsys, "inspect", str(path))["sha256"] == sha256
    path.write_bytes(path.read_bytes())
    assert json_of(capsys, "inspect", str(path))["sha256"] is None


def test_ctrl_c_ends_any_command_in_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.models.list_checkpoints", interrupted)
    assert run(["models"]) == 1
    assert capsys.readouterr().err == "safelight: Cancelled.\n"


def test_inspect_says_why_there_is_no_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["inspect", "starter", "--hash"]) == 1
    assert "only a single file has a hash" in capsys.readouterr().err
    path = write_single_file(tmp_path / "one.safetensors")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.inspect.hash_file", interrupted)
    assert run(["inspect", str(path), "--hash"]) == 1
    assert capsys.readouterr().err == "safelight: Cancelled.\n"

    def grows(file: Path, *_: object, **__: object) -> FullHash:
        os.utime(file, (0, 0))
        return FullHash("ab" * 32)

    monkeypatch.setattr("app.cli.inspect.hash_file", grows)
    assert run(["inspect", str(path), "--hash"]) == 1
    assert "changed while it was read" in capsys.readouterr().err


def test_inspect_refuses_html_saved_as_safetensors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "model.safetensors"
    page.write_text("<!DOCTYPE html><html><body>Log in to download</body></html>")
    assert run(["inspect", str(page)]) == 1
    error = capsys.readouterr().err
    assert "model.safetensors" in error
    assert len(error.splitlines()) == 1


def test_models_lists_what_is_in_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = find_paths().models
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "broken.safetensors").write_bytes(b"\0" * 7)
    (folder / "mine").symlink_to(starter_checkpoint())
    models = {model["name"]: model for model in json_of(capsys, "models")["models"]}
    assert set(models) == {"starter", "sub/broken", "mine"}
    assert models["mine"]["family"] == "sd1"
    assert models["sub/broken"]["problem"]
    assert run(["models"]) == 0
    assert "sub/broken" in capsys.readouterr().out


def test_a_checkpoint_is_found_by_path_and_by_name(tmp_path: Path) -> None:
    starter = starter_checkpoint()
    (tmp_path / "a.safetensors").touch()
    (tmp_path / "a.ckpt").touch()
    (tmp_path / "words.pt").touch()
    names = [entry.name for entry in list_checkpoints(tmp_path, starter)]
    assert names == ["starter", "a.ckpt", "a"]
    assert find_checkpoint("a.ckpt", tmp_path, starter) == tmp_path / "a.ckpt"
    assert find_checkpoint(None, tmp_path, starter) == starter
    assert find_checkpoint("a", tmp_path, starter) == tmp_path / "a.safetensors"
    assert find_checkpoint("starter", tmp_path, starter) == starter
    assert find_checkpoint("./starter", tmp_path, starter) == Path("starter").absolute()
    assert find_checkpoint(str(tmp_path), tmp_path, starter) == tmp_path


@pytest.mark.oracle
def test_doctor_tries_the_processor_and_makes_a_picture_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_verdicts(tmp_path / "cache", untried="cpu")
    # The verdicts on the other backends are failures.
    assert run(["doctor", "--json"]) == 1
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert "Its results are correct: " in checks["trial of cpu"]["detail"]
    assert checks["trial of cpu"]["ok"]
    assert checks["picture on cpu"]["ok"]
    assert "not usable" not in checks["picture on cpu"]["detail"]


@pytest.mark.oracle
def test_doctor_tries_every_backend_and_makes_a_picture_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With everything real: each backend in a process of its own, then in this one."""
    (tmp_path / "cache" / "devices.json").unlink()
    result = json_of(capsys, "doctor")
    checks = {check["name"]: check for check in result["checks"]}
    assert result["ok"]
    assert "dB from the cpu backend's" in checks["picture on intel_openvino"]["detail"]
    for backend in ("cpu", "intel_openvino"):
        assert "Its results are correct: " in checks[f"trial of {backend}"]["detail"]
    assert " here" in checks["choice"]["detail"]


def test_doctor_faults_a_device_that_computes_wrongly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = VerdictStore(tmp_path / "cache" / "devices.json", machine_fingerprint())
    wrong = (PrecisionFigures(precision="f16", problem="it is off by 2.0%"),)
    device = TriedDevice(id="cpu", name="processor", precisions=("f16",), figures=wrong)
    report = BackendReport(
        backend="intel_openvino", fingerprint=store.fingerprint, devices=(device,)
    )
    store.keep(report)
    assert run(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if "trial of intel_openvino" in line]
    assert line.startswith("FAILED")
    assert "off by 2.0%" in line


def test_doctor_reports_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SAFELIGHT_OUTPUT", str(tmp_path / "file" / "sub"))
    monkeypatch.setattr(Devices, "listed", lambda _devices: ())  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    assert run(["doctor"]) == 1
    assert "FAILED  output folder" in capsys.readouterr().out


def test_bench_times_every_component(capsys: pytest.CaptureFixture[str]) -> None:
    result = json_of(capsys, "bench", "--size", "64x64")
    assert [(row["component"], row["batch"]) for row in result["timings"]] == [
        (component, batch)
        for component in ("text encoder", "denoiser step", "VAE decoder")
        for batch in (1, 4)
    ]
    assert all(row["first_s"] > 0 and row["second_s"] > 0 for row in result["timings"])


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run([])
    assert stop.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_a_closed_pipe_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "app", "models"]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert "Traceback" not in result.stderr
