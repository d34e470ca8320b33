"""Each upscaler at the size of a well-known file beside spandrel's, with random weights."""
# pyright: basic
# spandrel and torch are absent from the environment that is type-checked.

from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.slow]
pytest.importorskip("torch")
if find_spec("spandrel") is None:
    pytest.skip("spandrel is not installed", allow_module_level=True)

from engine.upscalers.reading import read_upscaler  # noqa: E402
from engine.upscalers.running import running  # noqa: E402
from tests.backends.samples import relative_error  # noqa: E402
from tests.graphs.networks import wanted  # noqa: E402
from tests.oracle.test_upscalers import Reference, exact, file_of, state_of  # noqa: E402
from tests.upscalers.published import PUBLISHED  # noqa: E402
from tests.upscalers.small import picture, setting  # noqa: E402

# The classes' own defaults are the sizes as published, unless an argument says otherwise.
REFERENCES = {
    "Real-ESRGAN": Reference("ESRGAN.__arch.RRDB", "RRDBNet", {"scale": 4}, 4, "ESRGAN"),
    "Real-ESRGAN Compact": Reference(
        "Compact.__arch.SRVGG",
        "SRVGGNetCompact",
        {"num_feat": 64, "num_conv": 32, "upscale": 4},
        4,
        "Real-ESRGAN Compact",
    ),
    "SPAN": Reference(
        "SPAN.__arch.span",
        "SPAN",
        {"num_in_ch": 3, "num_out_ch": 3, "feature_channels": 48, "upscale": 4, "norm": True},
        4,
        "SPAN",
        gain=0.5,
    ),
    "RealPLKSR": Reference(
        "PLKSR.__arch.RealPLKSR",
        "RealPLKSR",
        {"dim": 64, "n_blocks": 28, "upscaling_factor": 4, "kernel_size": 17},
        4,
        "PLKSR",
    ),
    "SwinIR": Reference(
        "SwinIR.__arch.SwinIR",
        "SwinIR",
        {
            "img_size": 64, "embed_dim": 180, "depths": [6] * 6, "num_heads": [6] * 6,
            "window_size": 8, "mlp_ratio": 2.0, "upscale": 4, "upsampler": "nearest+conv",
        },
        4,
        "SwinIR",
    ),
    "OmniSR": Reference(
        "OmniSR.__arch.OmniSR",
        "OmniSR",
        {"num_feat": 64, "block_num": 1, "pe": True, "window_size": 8, "res_num": 5, "up_scale": 4},
        4,
        "OmniSR",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_file_of_full_size_enlarges_a_picture_as_spandrel_does(tmp_path: Path, name: str) -> None:
    reference = REFERENCES[name]
    module = reference.made()
    file = file_of(tmp_path, state_of(module))
    upscaler = read_upscaler(file)
    assert (upscaler.architecture, upscaler.network.scale) == (reference.title, reference.scale)
    sizes = {key: ref.shape for key, ref in wanted(upscaler.network.emit).items()}
    assert sizes == {key: ref.shape for key, ref in wanted(PUBLISHED[name]).items()}
    image = picture(40, 52)
    expected = exact(module, image[None])[0]
    with running(upscaler, setting(tmp_path)) as run:
        ours = run.enlarge(image)
    assert ours.shape == expected.shape
    assert relative_error(ours, expected) < 1e-5
