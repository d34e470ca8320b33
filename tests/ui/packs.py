"""Packs of a machine that is not here, as the app would tell the window of them."""

from app.commands.pack_rows import PackRow, PackStage, Progress, Terms
from app.updates.offers import Offer
from engine.api.machine import AdapterInfo, MachineInfo
from engine.api.values import ErrorCode, ErrorInfo

MACHINE = MachineInfo(
    processor="13th Gen Intel(R) Core(TM) i7-13700K",
    memory_total_bytes=34_200_000_000,
    adapters=(
        AdapterInfo(
            vendor="NVIDIA",
            name="NVIDIA GeForce RTX 4070",
            memory_total_bytes=12_880_000_000,
            driver="nvidia",
            driver_version="580.82",
            integrated=False,
        ),
        AdapterInfo(vendor="Intel", name="Intel UHD Graphics 770", driver="i915", integrated=True),
    ),
)
HOST = ("files.pythonhosted.org",)
APACHE = Terms("Apache 2.0", "https://www.apache.org/licenses/LICENSE-2.0")
NVIDIA = Terms("NVIDIA Software Licence", "https://docs.nvidia.com/cuda/eula/", is_proprietary=True)

TENSORRT = PackRow(
    id="nvidia-tensorrt-rtx",
    version="0.5.0",
    title="TensorRT-RTX",
    summary="For NVIDIA cards from the RTX 30 series on: compiles each model for the card.",
    licences=(NVIDIA,),
    hosts=HOST,
    download_bytes=146_500_000,
    disk_bytes=315_400_000,
    needs="A card of the 30 series or newer, and a driver of version 580 or newer.",
)
CUDA = PackRow(
    id="nvidia-cuda",
    version="1.31.1",
    title="CUDA",
    summary="For NVIDIA cards from the GTX 16 series on.",
    licences=(NVIDIA,),
    hosts=HOST,
    download_bytes=1_420_000_000,
    disk_bytes=2_310_000_000,
    stage=PackStage.DOWNLOADING,
    progress=Progress(
        done_bytes=530_000_000, total_bytes=1_420_000_000, bytes_per_second=11_300_000
    ),
)
OPENVINO = PackRow(
    id="intel-openvino",
    version="2026.4.1",
    title="OpenVINO",
    summary="For processors of Intel and AMD, and Intel's graphics.",
    licences=(APACHE,),
    hosts=HOST,
    download_bytes=59_000_000,
    disk_bytes=181_000_000,
    gain="about 1.9 x the processor without it",
    gain_source="SD 1.5, 512 pixels, AMD EPYC with two cores",
    stage=PackStage.INSTALLED,
    installed="2026.4.1",
    previous="2026.3.0",
    is_used=True,
    times_as_fast=1.9,
)
WEBGPU = PackRow(
    id="webgpu",
    version="0.4.0",
    title="WebGPU",
    summary="For any graphics card, by way of Vulkan.",
    licences=(Terms("MIT", "https://opensource.org/license/mit"),),
    hosts=HOST,
    download_bytes=6_900_000,
    disk_bytes=16_800_000,
    problem=ErrorInfo(
        ErrorCode.BACKEND_FAILED,
        "WebGPU did not pass its trial on this machine, and was removed: it crashed.",
        "A newer driver of the graphics card may help.",
    ),
)
DIRECTML = PackRow(
    id="windows-directml",
    version="",
    title="DirectML",
    summary="For any graphics card on Windows.",
    licences=(),
    hosts=(),
    download_bytes=0,
    disk_bytes=0,
    reason="It is made for Windows.",
)
ROWS = (TENSORRT, CUDA, OPENVINO, WEBGPU, DIRECTML)
UPDATE = Offer(
    version="0.2.0",
    date="2026-12-01",
    notes="- Pictures of SDXL take a third less memory.\n- Crops of masks are exact at the edge.",
    download_bytes=74_000_000,
    disk_bytes=196_000_000,
    hosts=("github.com",),
    file_name="safelight-0.2.0-linux-x86_64.tar.xz",
    sha256="0" * 64,
    urls=("https://github.com/",),
)
