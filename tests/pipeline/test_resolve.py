"""Gaps are filled from the checkpoint and the sampler; what cannot be made is refused."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from backends.base import Device, Precision
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.limits import MAX_COUNT, MAX_SEED, MAX_SIDE, MIN_SIDE
from engine.api.record import ResolvedRequest
from engine.api.request import (
    GenerateRequest,
    GuidanceOptions,
    InputImage,
    SeedOptions,
)
from engine.api.values import (
    ErrorCode,
    InputRole,
    PrecisionName,
    SamplerName,
    ScheduleName,
    WeightBits,
)
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify
from engine.families.architecture import Architecture, texts_of
from engine.families.hints import NO_HINTS, CheckpointHints
from engine.pipeline.batch import BatchPicture
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.place import place, precisions
from engine.pipeline.resolve import resolve, suggested_settings
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import UNetSizes
from tests.families.zimage import files as zimage

DEVICE = Device("intel_openvino", "cpu", "a processor", (Precision.BF16, Precision.F32))
VARIED = SeedOptions(variation_seed=MAX_SEED, variation_strength=0.5)
NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> IdentifiedCheckpoint:
    folder = tmp_path_factory.mktemp("resolve")
    return identify(write_sparse(folder / "sd15.safetensors", listings.original()))


def filled(checkpoint: IdentifiedCheckpoint, **fields: object) -> ResolvedRequest:
    request = msgspec.structs.replace(GenerateRequest(prompt="a house"), **fields)
    return _placed(resolve(request, JobCheckpoints(checkpoint)), DEVICE)


def _placed(resolved: ResolvedRequest, device: Device) -> ResolvedRequest:
    placement = place(resolved.precision, resolved.vae_tile, device)
    return BatchPicture(0, resolved, texts_of(resolved)).request_on(placement)


def refused(checkpoint: IdentifiedCheckpoint, **fields: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        filled(checkpoint, **fields)
    return caught.value


def test_gaps_are_filled(checkpoint: IdentifiedCheckpoint) -> None:
    resolved = filled(checkpoint)
    assert (resolved.width, resolved.height) == (512, 512)
    assert resolved.sampler is SamplerName.DPMPP_2M
    assert resolved.schedule is ScheduleName.KARRAS
    assert (resolved.steps, resolved.guidance, resolved.clip_skip) == (20, 7.0, 1)
    assert resolved.strength == 0.75
    assert resolved.checkpoint == str(checkpoint.path)
    assert resolved.backend == "intel_openvino"
    assert resolved.precision is PrecisionName.BF16


def test_chosen_values_are_kept(checkpoint: IdentifiedCheckpoint) -> None:
    wishes: dict[str, object] = {
        "negative_prompt": "blur",
        "width": 768,
        "height": 64,
        "steps": 1,
        "guidance": 0.0,
        "sampler": SamplerName.EULER,
        "schedule": ScheduleName.BETA,
        "seed": 0,
        "clip_skip": 12,
        "strength": 0.0,
        "precision": PrecisionName.F32,
    }
    resolved = filled(checkpoint, **wishes)
    assert {name: getattr(resolved, name) for name in wishes} == wishes


def test_defaults_are_the_samplers(checkpoint: IdentifiedCheckpoint) -> None:
    resolved = filled(checkpoint, sampler=SamplerName.LCM)
    assert (resolved.steps, resolved.guidance) == (6, 1.5)
    assert resolved.schedule is ScheduleName.SGM_UNIFORM


def test_a_seed_is_drawn_each_time(checkpoint: IdentifiedCheckpoint) -> None:
    seeds = {filled(checkpoint).seed for _ in range(8)}
    assert len(seeds) > 1
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_a_variation_has_a_seed_exactly_where_it_has_a_strength(
    checkpoint: IdentifiedCheckpoint,
) -> None:
    drawn = [
        filled(checkpoint, seed_options=SeedOptions(variation_strength=0.5)).seed_options
        for _ in range(3)
    ]
    assert len({options.variation_seed for options in drawn} - {None}) == 3
    without = filled(checkpoint, seed_options=SeedOptions(variation_seed=7)).seed_options
    assert without.variation_seed is None


def test_the_largest_values_are_taken(checkpoint: IdentifiedCheckpoint) -> None:
    fields = {"width": MAX_SIDE, "height": MIN_SIDE, "steps": 1000, "guidance": 100.0}
    largest = filled(checkpoint, **fields, seed=MAX_SEED)
    assert {name: getattr(largest, name) for name in fields} == fields
    assert largest.seed == MAX_SEED
    last = filled(checkpoint, count=10, seed=MAX_SEED - 9, strength=1.0)
    assert (last.seed, last.strength) == (MAX_SEED - 9, 1.0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"width": 0}, ("width", "0", "64", "8,192")),
        ({"height": 0}, ("height",)),
        ({"width": -512}, ("width", "-512")),
        ({"width": 100_000}, ("width", "100,000", "8,192")),
        ({"height": 100_000}, ("height", "100,000")),
        ({"width": 8}, ("width", "8")),
        ({"height": 10**400}, ("height",)),
        ({"steps": 0}, ("steps", "0", "1,000")),
        ({"steps": -1}, ("steps", "-1")),
        ({"steps": 1001}, ("steps", "1,001")),
        ({"guidance": NAN}, ("guidance", "nan")),
        ({"guidance": INF}, ("guidance", "inf")),
        ({"guidance": -1.0}, ("guidance", "-1")),
        ({"guidance": 101.0}, ("guidance", "101")),
        ({"seed": -1}, ("seed", "-1")),
        ({"seed": 2**64}, ("seed", "18,446,744,073,709,551,616")),
        ({"seed": 10**400}, ("seed",)),
        ({"seed": MAX_SEED, "count": 2}, ("seed",)),
        ({"count": 0}, ("count", "0")),
        ({"count": MAX_COUNT + 1}, ("count", "10,001")),
        ({"count": 2**70}, ("count",)),
        ({"clip_skip": 0}, ("clip skip", "0")),
        ({"clip_skip": 13}, ("clip skip", "13", "12")),
        ({"strength": NAN}, ("strength", "nan")),
        ({"strength": 1.01}, ("strength", "1.01")),
        ({"strength": -0.01}, ("strength",)),
        ({"seed_options": SeedOptions(variation_strength=1.5)}, ("variation strength", "1.5")),
        ({"seed_options": VARIED, "count": 2}, ("variation seed",)),
        ({"seed_options": SeedOptions(resize_from=(512, 8))}, ("seed's size", "8")),
        ({"seed_options": SeedOptions(batch_index=1025)}, ("batch index", "1,025", "1,024")),
        ({"seed_options": SeedOptions(eta_seed_delta=2**70)}, ("eta seed delta",)),
        ({"guidance_options": GuidanceOptions(rescale=NAN)}, ("rescale", "nan")),
        ({"guidance_options": GuidanceOptions(range=(0.0, 1.1))}, ("end of guidance", "1.1")),
        ({"guidance_options": GuidanceOptions(range=(0.6, 0.5))}, ("start of guidance", "0.6")),
        ({"prompt": "x" * 1_000_001}, ("prompt", "1,000,001", "1,000,000")),
        ({"negative_prompt": "x" * 1_000_001}, ("negative prompt", "1,000,001")),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_impossible_value_is_refused_by_name(
    checkpoint: IdentifiedCheckpoint, fields: dict[str, object], words: tuple[str, ...]
) -> None:
    error = refused(checkpoint, **fields)
    assert error.code is ErrorCode.REQUEST_INVALID
    for word in words:
        assert word in error.message


@pytest.mark.parametrize(
    ("size", "nearest"), [(513, ("512", "520")), (519, ("512", "520")), (8191, ("8184", "8192"))]
)
def test_a_size_that_does_not_divide_is_told_the_nearest(
    checkpoint: IdentifiedCheckpoint, size: int, nearest: tuple[str, str]
) -> None:
    for name in ("width", "height"):
        error = refused(checkpoint, **{name: size})
        assert error.code is ErrorCode.REQUEST_INVALID
        assert name in error.message
        assert "multiple of 8" in error.message
        assert all(value in error.hint for value in nearest)


def test_a_precision_that_the_device_does_not_offer_is_refused(
    checkpoint: IdentifiedCheckpoint,
) -> None:
    error = refused(checkpoint, precision=PrecisionName.F16)
    assert error.code is ErrorCode.REQUEST_INVALID
    assert "f16" in error.message
    assert "bf16, f32" in error.hint


def test_a_request_is_resolved_without_a_device(checkpoint: IdentifiedCheckpoint) -> None:
    request = GenerateRequest(prompt="", backend="cpu", precision=PrecisionName.AUTO)
    resolved = resolve(request, JobCheckpoints(checkpoint))
    assert (resolved.backend, resolved.precision) == ("cpu", PrecisionName.AUTO)
    placed = _placed(resolved, DEVICE)
    assert (placed.backend, placed.precision) == (DEVICE.backend, PrecisionName.BF16)
    # On the device that takes over, the same seeds and the precision asked for.
    other = Device("cpu", "cpu", "a processor", (Precision.F32,))
    assert _placed(resolved, other) == msgspec.structs.replace(
        resolved, backend="cpu", precision=PrecisionName.F32, weight_bits=WeightBits.ALL
    )


def test_precisions_end_with_the_safest() -> None:
    bf16, f32 = Precision.BF16, Precision.F32
    plain = Device("cpu", "cpu", "a processor", (f32,))
    assert precisions(PrecisionName.AUTO, DEVICE) == (bf16, f32)
    assert precisions(PrecisionName.BF16, DEVICE) == (bf16, f32)
    assert precisions(PrecisionName.F32, DEVICE) == (f32,)
    assert precisions(PrecisionName.AUTO, plain) == (f32,)
    only = Device("x", "x", "x", (Precision.F16,))
    assert precisions(PrecisionName.AUTO, only) == (Precision.F16,)


def test_pictures_that_cannot_be_used(checkpoint: IdentifiedCheckpoint, tmp_path: Path) -> None:
    there = tmp_path / "a.png"
    there.write_bytes(b"")
    init = InputImage(role=InputRole.INIT, path=str(there))
    assert filled(checkpoint, inputs=(init,)).inputs == (init,)
    missing = InputImage(role=InputRole.INIT, path=str(tmp_path / "nowhere.png"))
    error = refused(checkpoint, inputs=(missing,))
    assert error.code is ErrorCode.INPUT_IMAGE_UNREADABLE
    assert "nowhere.png" in error.message
    for role in set(InputRole) - {InputRole.INIT}:
        other = InputImage(role=role, path=str(there))
        error = refused(checkpoint, inputs=(other,))
        assert error.code is ErrorCode.REQUEST_INVALID
        assert role.value in error.message


@pytest.mark.parametrize(
    "changes", [{"weight": 0.5}, {"range": (0.0, 0.5)}, {"range": (0.2, 1.0)}], ids=str
)
def test_no_setting_of_a_picture_is_ignored(
    checkpoint: IdentifiedCheckpoint, tmp_path: Path, changes: dict[str, object]
) -> None:
    there = tmp_path / "a.png"
    there.write_bytes(b"")
    init = InputImage(role=InputRole.INIT, path=str(there))
    twice = refused(checkpoint, inputs=(init, init))
    assert twice.code is ErrorCode.REQUEST_INVALID
    error = refused(checkpoint, inputs=(msgspec.structs.replace(init, **changes),))
    assert error.code is ErrorCode.REQUEST_INVALID
    assert "strength" in error.hint


def test_an_unet_that_paints_what_is_masked_needs_no_picture(tmp_path: Path) -> None:
    inpainting = UNetSizes(in_channels=9)
    path = write_sparse(tmp_path / "inpainting.safetensors", listings.original(inpainting))
    assert filled(identify(path)).width == 512


@pytest.mark.parametrize("hints", [NO_HINTS, CheckpointHints(sampler=SamplerName.LCM, steps=4)])
def test_suggested_settings_equal_the_filled_ones(
    checkpoint: IdentifiedCheckpoint, hints: CheckpointHints
) -> None:
    hinted = replace(checkpoint, hints=hints)
    suggested = suggested_settings(hinted)
    assert {entry.sampler for entry in suggested} == set(SamplerName)
    assert suggested[0].sampler is filled(hinted).sampler
    for entry in suggested:
        resolved = filled(hinted, sampler=entry.sampler)
        became = (resolved.schedule, resolved.steps, resolved.guidance)
        assert became == (entry.schedule, entry.steps, entry.guidance)


def narrowed(checkpoint: IdentifiedCheckpoint) -> IdentifiedCheckpoint:
    """The checkpoint as one of an architecture with two samplers and one schedule."""
    own = checkpoint.architecture
    features = msgspec.structs.replace(
        own.features,
        samplers=(SamplerName.EULER, SamplerName.HEUN),
        schedules=(ScheduleName.SIMPLE,),
        size_multiple=16,
        deepest_clip_skip=0,
    )

    def make_architecture(_: IdentifiedCheckpoint) -> Architecture:
        return msgspec.structs.replace(own, features=features)

    return replace(checkpoint, make_architecture=make_architecture)


def test_open_choices_are_those_that_the_architecture_has(
    checkpoint: IdentifiedCheckpoint,
) -> None:
    found = filled(narrowed(checkpoint))
    assert (found.sampler, found.schedule) == (SamplerName.EULER, ScheduleName.SIMPLE)
    suggested = suggested_settings(narrowed(checkpoint))
    assert [settings.sampler for settings in suggested] == [SamplerName.EULER, SamplerName.HEUN]
    assert {settings.schedule for settings in suggested} == {ScheduleName.SIMPLE}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"sampler": SamplerName.EULER_ANCESTRAL}, "sampler Euler a does not work"),
        ({"schedule": ScheduleName.KARRAS}, "schedule Karras does not work"),
        ({"width": 520}, "no multiple of 16"),
        ({"clip_skip": 2}, "clip skip"),
    ],
)
def test_a_sampler_that_the_architecture_lacks_is_refused(
    checkpoint: IdentifiedCheckpoint, fields: dict[str, object], says: str
) -> None:
    error = refused(narrowed(checkpoint), **fields)
    assert error.code is ErrorCode.REQUEST_INVALID
    assert says in error.message


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (DenoiserOptions(freeu=FreeUVersion.V2), "no layers that FreeU changes"),
        (DenoiserOptions(tiling=Tiling.X), "cannot draw seamless edges"),
    ],
)
def test_changes_that_a_denoiser_cannot_take_are_refused(
    options: DenoiserOptions, told: str, tmp_path: Path
) -> None:
    sparse = write_sparse(tmp_path / "z_image.safetensors", zimage.original(zimage.SMALL))
    error = refused(identify(sparse), denoiser_options=options)
    assert (error.code, told in error.message) == (ErrorCode.REQUEST_INVALID, True)
