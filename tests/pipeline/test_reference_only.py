"""A reference picture that the denoiser's self-attention sees: "reference_only"."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.cpu import CpuBackend
from engine.api.control import ControlLayer, ControlMode
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion
from engine.api.preprocessors import ControlKind, ReferenceOptions
from engine.api.request import GuidanceOptions
from engine.api.second_passes import SecondPass
from engine.api.values import ErrorCode
from engine.errors import EngineError
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run
from tests.tiny_checkpoint import SIDE, write_checkpoint

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    write_checkpoint(folder / "tiny")
    for seed in range(2):
        write_map(folder / f"map{seed}.png", seed)
    write_control_net(folder / "net.safetensors", folder / "tiny")
    return folder


def reference(folder: Path, fidelity: float = 0.5, seed: int = 0, **changes: Any) -> ControlLayer:
    fields: dict[str, Any] = {
        "image": str(folder / f"map{seed}.png"),
        "preprocessor": ReferenceOptions(style_fidelity=fidelity),
    }
    return ControlLayer(**fields | changes)


def picture(folder: Path, *layers: ControlLayer, **changes: object) -> Pixels:
    request = a_request(folder / "tiny", controls=layers, steps=2, **changes)
    return run(request, CpuBackend(), residency=RESIDENCY).pixels[0]


@pytest.fixture(scope="module")
def plain(folder: Path) -> Pixels:
    return picture(folder)


def test_a_reference_changes_the_picture_by_itself_and_its_fidelity(
    folder: Path, plain: Pixels
) -> None:
    pictures = [picture(folder, reference(folder, fidelity)) for fidelity in (0.0, 0.5, 1.0)]
    pictures += [picture(folder, reference(folder, seed=1)), plain]
    for place, pixels in enumerate(pictures):
        assert all(psnr(pixels, other) < 60 for other in pictures[:place])


def test_a_reference_is_the_same_when_made_again(folder: Path) -> None:
    once, again = (picture(folder, reference(folder)) for _ in range(2))
    np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize("changes", [{"weight": 0.0}, {"range": (1.0, 1.0)}], ids=str)
def test_a_reference_that_never_acts_changes_nothing(
    folder: Path, plain: Pixels, changes: dict[str, Any]
) -> None:
    assert psnr(picture(folder, reference(folder, **changes)), plain) > 50


def test_the_weight_is_the_share_of_layers(folder: Path) -> None:
    whole, half = (picture(folder, reference(folder, weight=weight)) for weight in (1.0, 0.5))
    assert psnr(whole, half) < 60
    np.testing.assert_array_equal(picture(folder, reference(folder, weight=2.0)), whole)


def test_modes_set_the_style_fidelity(folder: Path) -> None:
    for mode, fidelity in ((ControlMode.PROMPT, 0.0), (ControlMode.CONTROL, 1.0)):
        led = picture(folder, reference(folder, 0.3, mode=mode))
        np.testing.assert_array_equal(led, picture(folder, reference(folder, fidelity)))


def test_without_a_reference_the_denoiser_is_the_plain_one(folder: Path) -> None:
    plain, led = CountingBackend(), CountingBackend()
    run(a_request(folder / "tiny"), plain)
    run(a_request(folder / "tiny", controls=(reference(folder),)), led)
    graphs = [{graph.name: graph for graph in backend.graphs} for backend in (plain, led)]
    assert "reference denoiser" not in graphs[0]
    assert {"denoiser", "reference denoiser"} <= set(graphs[1])
    assert not any(spec.name.startswith("kept") for spec in graphs[0]["denoiser"].inputs)
    read = [spec.name for spec in graphs[1]["denoiser"].inputs if spec.name.startswith("kept")]
    written = [
        output.name
        for output in graphs[1]["reference denoiser"].outputs
        if output.name.startswith("seen")
    ]
    assert len(read) == len(written) > 0


def test_a_reference_goes_with_a_controlnet_and_freeu_and_second_passes(folder: Path) -> None:
    net = ControlLayer(image=str(folder / "map1.png"), network=str(folder / "net.safetensors"))
    free_u = DenoiserOptions(freeu=FreeUVersion.V2)
    alone = picture(folder, net, denoiser_options=free_u)
    led = picture(folder, reference(folder), net, denoiser_options=free_u)
    assert psnr(alone, led) < 60
    larger = (SecondPass(scale=1.25, strength=0.5, tile=SIDE),)
    assert picture(folder, reference(folder), second_passes=larger).shape[0] == SIDE * 5 // 4


def test_a_record_tells_of_the_reference(folder: Path) -> None:
    result = run(a_request(folder / "tiny", controls=(reference(folder),)), CpuBackend())
    (report,) = result.pictures[0].controls
    assert report.kind is ControlKind.REFERENCE
    assert report.path is None
    assert len(report.image_sha256) == 64
    assert not result.warnings


@pytest.mark.parametrize(
    ("twice", "changes", "request_changes", "message"),
    [
        (True, {}, {}, "one reference picture"),
        (False, {"mask": "map1.png"}, {}, "whole picture"),
        (False, {}, {"guidance_options": GuidanceOptions(pag_scale=1.0)}, "do not go together"),
    ],
)
def test_a_reference_that_cannot_act_is_refused_before_the_first_step(
    folder: Path,
    twice: bool,
    changes: dict[str, str],
    request_changes: dict[str, object],
    message: str,
) -> None:
    given: dict[str, Any] = {name: str(folder / path) for name, path in changes.items()}
    layers = (reference(folder, **given),) * (1 + twice)
    backend = CountingBackend()
    with pytest.raises(EngineError, match=message) as caught:
        run(a_request(folder / "tiny", controls=layers, **request_changes), backend)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert not backend.loads


def test_a_reference_without_its_picture_is_left_out(folder: Path, plain: Pixels) -> None:
    lost = reference(folder, image="")
    result = run(a_request(folder / "tiny", controls=(lost,), steps=2), CpuBackend())
    np.testing.assert_array_equal(result.pixels[0], plain)
    assert "its picture is not known" in str(result.warnings[0].message)
