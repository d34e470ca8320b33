"""Jobs of TensorRT, which streams weights of large networks and copies them to the host for it."""

from pathlib import Path

import pytest

from backends.base import Device, DType, MemoryInfo, Precision
from backends.nvidia_tensorrt_rtx import TensorRtRtxBackend
from engine.api.values import ErrorCode
from engine.devices.choice import Candidate
from engine.errors import EngineError
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.job_memory import MemoryAllowance
from engine.jobs.job_plan import JobPlan, plan_job
from engine.jobs.services import JobServices
from engine.memory.plan import WeightPlacement
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.resolve import resolve_job
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.jobs.machines import GB
from tests.pipeline.jobs import a_request

# The bytes of SDXL's UNet in 16 bits.
UNET = int(5.13 * GB)


class Card(TensorRtRtxBackend):
    """A card of so much memory, all of it free."""

    def __init__(self, total: float) -> None:
        self.total = int(total * GB)

    def memory(self, device: Device) -> MemoryInfo:
        return MemoryInfo(self.total, self.total, integrated=False)


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory: pytest.TempPathFactory) -> ReadJob:
    """A picture of SDXL at 1024 x 1024, from a file of 16 bits that has no numbers."""
    path = tmp_path_factory.mktemp("sdxl") / "sdxl.safetensors"
    request = a_request(write_sparse(path, listings.sdxl(), DType.F16), width=1024, height=1024)
    return read_job(resolve_job(request, load_checkpoints(request)))


def planned(sdxl: ReadJob, folder: Path, card: Card, **limits: int) -> JobPlan:
    device = Device(card.name, "0", "a GeForce", precisions=(Precision.F16, Precision.F32))
    services = JobServices.in_cache(folder)
    return plan_job(sdxl, Candidate(card, device), services, MemoryAllowance(**limits))


def test_a_card_with_room_holds_all_weights(sdxl: ReadJob, tmp_path: Path) -> None:
    plan = planned(sdxl, tmp_path, Card(12)).memory
    assert plan.placement is not WeightPlacement.STREAMED
    assert plan.peak_bytes > UNET


def test_a_card_of_6_gb_streams_the_unet_and_its_engine_is_on_the_host(
    sdxl: ReadJob, tmp_path: Path
) -> None:
    plan = planned(sdxl, tmp_path, Card(6)).memory
    assert plan.placement is WeightPlacement.STREAMED
    assert plan.fits
    assert 0 < plan.room_bytes < UNET
    assert plan.host
    assert plan.host.peak_bytes > UNET


def test_a_host_without_room_for_the_engine_is_told(sdxl: ReadJob, tmp_path: Path) -> None:
    with pytest.raises(EngineError) as refused:
        planned(sdxl, tmp_path, Card(6), limit_bytes=2 * GB)
    assert refused.value.code is ErrorCode.OUT_OF_MEMORY
    assert "of this computer's memory, beside that of a GeForce" in refused.value.message


def test_networks_below_half_of_the_card_are_held_whole(sdxl: ReadJob, tmp_path: Path) -> None:
    plan = planned(sdxl, tmp_path, Card(6))
    denoiser, vae = plan.needs.denoiser, plan.needs.vae
    assert denoiser.in_place is not None
    assert denoiser.in_place < UNET // 10
    assert denoiser.copied == pytest.approx(UNET, rel=0.01)
    assert (vae.in_place, vae.copied) == (None, 0)
