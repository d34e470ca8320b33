"""One evaluation of the SD 1.5 UNet: 512 x 512, guided (a batch of 2), from a float32 file."""

from contextlib import ExitStack

from benchmarks.child import Child
from benchmarks.measure import interleave
from benchmarks.peers import PEERS
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import TIMING_COLUMNS, Setting, first_and_rest, timing_row
from benchmarks.workload import DENOISER, SIZE

OURS = "safelight, intel_openvino bf16"
_SPIKE = "the spike, OpenVINO bf16"
_LIMIT = 1.05


def step(setting: Setting) -> Findings:
    """Compare our step with the reference implementation's in turns; then with all others."""
    unet = str(setting.files.unet_file)
    with ExitStack() as stack:

        def start(peer: str, **options: str) -> Child:
            return stack.enter_context(Child(peer, **options))

        ours = start("safelight", checkpoint=unet, backend="intel_openvino", precision="bf16")
        with Child("spike", unet_file=unet) as spike:
            versus_spike = _turns(setting, {_SPIKE: spike, OURS: ours}, setting.rounds(11))
        configuration = str(setting.files.configuration)
        others = {
            OURS: ours,
            "safelight, cpu f32": start(
                "safelight", checkpoint=unet, backend="cpu", precision="f32"
            ),
            "safelight, torch_device bf16": start(
                "safelight", checkpoint=unet, backend="torch_device", precision="bf16"
            ),
            "safelight, torch_device f32": start(
                "safelight", checkpoint=unet, backend="torch_device", precision="f32"
            ),
            "diffusers bf16, channels-last": start(
                "diffusers", configuration=configuration, precision="bf16"
            ),
            "diffusers f32": start("diffusers", configuration=configuration, precision="f32"),
        }
        rows = _turns(setting, others, setting.rounds(5))[1]
    spike_ratio, spike_rows = versus_spike
    table = Table(
        f"UNet step, {SIZE}x{SIZE}, guided, float32 file",
        (*TIMING_COLUMNS, "ours / it"),
        (*spike_rows, *rows[1:], _stable_diffusion_cpp(setting, spike_rows[1][2])),
        "Turn by turn in one run. First: the first run after loading. Ratios are medians over "
        "rounds. stable-diffusion.cpp reads the float16 file, which is faster for it, and runs the "
        "two halves of guidance one after the other.",
    )
    target = Target("UNet step / the spike's", spike_ratio, _LIMIT, "")
    return Findings((table,), (target,))


def _turns(
    setting: Setting, peers: dict[str, Child], rounds: int
) -> tuple[float, tuple[tuple[Cell, ...], ...]]:
    """Return our time divided by the first peer's, and a row for each peer."""
    contestants = {
        name: lambda child=child: child.seconds(DENOISER) for name, child in peers.items()
    }
    firsts, series = first_and_rest(interleave(contestants, rounds + 1, setting.report))
    rows = [
        timing_row(
            name, firsts[name], times, None if name == OURS else series[OURS].ratio_to(times)
        )
        for name, times in series.items()
    ]
    return series[OURS].ratio_to(next(iter(series.values()))), tuple(rows)


def _stable_diffusion_cpp(setting: Setting, ours_s: Cell) -> tuple[Cell, ...]:
    name = "stable-diffusion.cpp, f16 file"
    if not PEERS["sdcpp"].installed:
        return (f"{name}: not installed", *("-",) * 5)
    with Child("sdcpp", model_path=str(setting.files.f16)) as child:
        seconds = float(child.ask("picture", steps=2)["step_s"])
        setting.report(name, seconds)
    ratio = ours_s / seconds if isinstance(ours_s, float) else "-"
    return (name, "-", seconds, seconds, seconds, ratio)
