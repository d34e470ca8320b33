"""`safelight generate --control`: what is typed becomes layers, which a picture keeps."""

import argparse
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import controls, run
from app.cli.terminal import Usage
from engine.api.control import ControlLayer, ControlMode, ControlResize
from engine.api.preprocessors import CannyOptions, ControlKind, ReferenceOptions
from tests.metadata.records import read_record
from tests.pipeline.control_files import write_control_net, write_map
from tests.tiny_checkpoint import write_checkpoint


def layers(*arguments: str, before: tuple[ControlLayer, ...] = ()) -> tuple[ControlLayer, ...]:
    parser = argparse.ArgumentParser()
    controls.add_arguments(parser)
    return controls.with_controls(before, parser.parse_args(arguments).wanted_controls)


def test_options_are_about_the_picture_before_them(tmp_path: Path) -> None:
    first, second = str(tmp_path / "a.png"), str(tmp_path / "b.png")
    net, mask = str(tmp_path / "n.safetensors"), str(tmp_path / "mask.png")
    found = layers(
        *("--control", first, "--control-model", net, "--control-weight", "0.8"),
        *("--control-range", "0,0.5", "--control-mode", "prompt", "--control-resize", "fill"),
        *("--control-kind", "depth", "--control-mask", mask),
        *("--control", second, "--control-model", net, "--control-preprocessor", "canny"),
        *("--control-preprocessor-option", "low=50", "--control-preprocessor-option", "high=90"),
    )
    assert found == (
        ControlLayer(
            image=first,
            network=net,
            weight=0.8,
            range=(0.0, 0.5),
            mode=ControlMode.PROMPT,
            resize=ControlResize.FILL,
            kind=ControlKind.DEPTH,
            mask=mask,
        ),
        ControlLayer(image=second, network=net, preprocessor=CannyOptions(low=50, high=90)),
    )


def test_a_reference_has_no_network(tmp_path: Path) -> None:
    path = str(tmp_path / "a.png")
    given = "--control", path, "--control-preprocessor", "reference_only"
    (found,) = layers(*given, "--control-preprocessor-option", "style_fidelity=0.8")
    assert found == ControlLayer(image=path, preprocessor=ReferenceOptions(style_fidelity=0.8))
    with pytest.raises(Usage, match="takes no --control-model"):
        layers(*given, "--control-model", "n")


def test_without_options_the_layers_of_before_stay() -> None:
    before = (ControlLayer(image="a.png", network="n"),)
    assert layers(before=before) == before
    assert layers("--control", "b.png", "--control-model", "m", before=before) != before


def test_a_layer_without_a_network_is_for_the_model_itself() -> None:
    (layer,) = layers("--control", "a.png", "--control-preprocessor", "canny")
    assert (layer.network, layer.preprocessor) == (None, CannyOptions())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--control", "a.png", "--control-model", "n", "--control-preprocessor-model", "w.pth"),
        ("--control", "a.png", "--control-model", "n", "--control-preprocessor-option", "low=1"),
    ],
)
def test_a_layer_that_lacks_a_part_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(Usage):
        layers(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--control-weight", "1"),
        ("--control", "a.png", "--control-weight", "much"),
        ("--control", "a.png", "--control-weight", "nan"),
        ("--control", "a.png", "--control-weight", "10.5"),
        ("--control", "a.png", "--control-kind", "lines"),
        ("--control", "a.png", "--control-range", "0.6"),
        ("--control", "a.png", "--control-range", "0.6,0.2"),
        ("--control", "a.png", "--control-mode", "both"),
        ("--control", "a.png", "--control-preprocessor", "lines"),
    ],
)
def test_an_option_without_sense_ends_the_command(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        layers(*arguments)
    told = capsys.readouterr().err
    assert "--control" in told
    assert "invalid" not in told


def test_a_picture_or_a_mask_that_is_not_there_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = write_checkpoint(tmp_path / "tiny")
    net = write_control_net(tmp_path / "net.safetensors", checkpoint)
    shown = write_map(tmp_path / "map.png")
    chosen = ("generate", "a", "--model", str(checkpoint), "--size", "64x64", "--backend", "cpu")
    gone = str(tmp_path / "gone.png")
    for control in (("--control", gone), ("--control", str(shown), "--control-mask", gone)):
        assert run([*chosen, *control, "--control-model", str(net)]) == 1
        assert "gone.png cannot be read: it is not there." in capsys.readouterr().err


def test_a_led_picture_is_made_again_from_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = write_checkpoint(tmp_path / "tiny")
    net = write_control_net(tmp_path / "net.safetensors", checkpoint)
    shown = write_map(tmp_path / "map.png")
    plain, led, again = (tmp_path / f"{name}.png" for name in ("plain", "led", "again"))
    small = ("--steps", "2", "--size", "64x64", "--seed", "7", "--backend", "cpu")
    chosen = ("generate", "a red house", "--model", str(checkpoint), *small)
    control = ("--control", str(shown), "--control-model", str(net), "--control-mode", "control")
    assert run([*chosen, "--out", str(plain)]) == 0
    assert run([*chosen, "--out", str(led), *control]) == 0
    assert run(["generate", "--from", str(led), "--out", str(again), "--backend", "cpu"]) == 0
    pixels = [np.asarray(Image.open(path)) for path in (plain, led, again)]
    assert (pixels[0] != pixels[1]).any()
    np.testing.assert_array_equal(pixels[1], pixels[2])
    record = read_record(led)
    assert record is not None
    assert isinstance(record.controls, tuple)
    (report,) = record.controls
    assert (report.name, report.path) == ("net", str(net))
    assert report.digest
    capsys.readouterr()
    write_map(shown, 5)
    assert run(["generate", "--from", str(led), "--out", str(tmp_path / "other.png")]) == 0
    assert "The map of net is another one than in that picture." in capsys.readouterr().err


def test_a_renamed_network_is_found_and_makes_the_same_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models"
    (models / "controlnet").mkdir(parents=True)
    monkeypatch.setenv("SAFELIGHT_MODELS", str(models))
    checkpoint = write_checkpoint(tmp_path / "tiny")
    net = write_control_net(models / "controlnet" / "net.safetensors", checkpoint)
    write_control_net(models / "controlnet" / "other.safetensors", checkpoint, 9)
    shown = write_map(tmp_path / "map.png")
    led, again = tmp_path / "led.png", tmp_path / "again.png"
    small = ("--steps", "2", "--size", "64x64", "--seed", "7", "--backend", "cpu")
    control = ("--control", str(shown), "--control-model", "net")
    chosen = ("generate", "a red house", "--model", str(checkpoint), *small)
    assert run([*chosen, "--out", str(led), *control]) == 0
    moved = net.rename(net.with_name("renamed.safetensors"))
    assert run(["generate", "--from", str(led), "--out", str(again), "--backend", "cpu"]) == 0
    with Image.open(led) as led_image, Image.open(again) as again_image:
        np.testing.assert_array_equal(np.asarray(led_image), np.asarray(again_image))
    record = read_record(again)
    assert record is not None
    assert record.request.controls[0].network == str(moved)
    moved.unlink()
    capsys.readouterr()
    assert run(["generate", "--from", str(led), "--out", str(again), "--backend", "cpu"]) != 0
    told = capsys.readouterr().err
    assert "The control network net.safetensors was not found." in told
    assert str(net) in told


def test_a_changed_picture_is_told_before_the_first_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = write_checkpoint(tmp_path / "tiny")
    net = write_control_net(tmp_path / "net.safetensors", checkpoint)
    shown = write_map(tmp_path / "map.png")
    led = tmp_path / "led.png"
    small = ("--steps", "2", "--size", "64x64", "--seed", "7", "--backend", "cpu")
    control = ("--control", str(shown), "--control-model", str(net))
    chosen = ("generate", "a red house", "--model", str(checkpoint), *small)
    assert run([*chosen, "--out", str(led), *control]) == 0
    write_map(shown, 5)
    capsys.readouterr()
    assert run(["generate", "--from", str(led), "--out", str(tmp_path / "new.png")]) == 0
    told = capsys.readouterr().err
    changed = f"The picture {shown} has changed since it was followed; the result will differ."
    assert changed in told
    assert told.index(changed) < told.index("The map of net is another one")
    shown.unlink()
    assert run(["generate", "--from", str(led), "--out", str(tmp_path / "none.png")]) != 0
    assert "map.png" in capsys.readouterr().err
    assert not (tmp_path / "none.png").exists()
