"""Pictures with image prompts: what changes them, what does not, and what is refused before."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    PictureCombination,
)
from engine.api.masks import MaskOptions
from engine.api.request import InputImage
from engine.api.values import ErrorCode, InputRole, Phase
from engine.checkpoints.files import read_index
from engine.compile.compiler import Compiler
from engine.compile.kept_results import KeptResults
from engine.errors import EngineError
from engine.families import identify
from engine.families.architecture import TextAttention
from engine.graphs.unet import attending_layers
from engine.memory.residency import Residency
from engine.pipeline.control.acting import acting_steps
from engine.pipeline.found_networks import with_networks
from engine.pipeline.image_prompts import (
    ImagePromptFiles,
    JobImagePrompts,
    read_image_prompts,
)
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.network_lookup import NetworkLookup
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import NamedFiles, resolve, resolve_job
from engine.weights.working_copies import WorkingCopies
from tests.graphs.networks import sd15_unet
from tests.image_prompts.files import (
    KINDS,
    write_adapter,
    write_encoder,
    write_mask,
    write_picture,
)
from tests.pipeline.jobs import RESIDENCY, Result, a_request, psnr, run
from tests.tiny_checkpoint import SIDE, write_checkpoint


class Files:
    """A tiny checkpoint, and the files for image prompts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkpoint = write_checkpoint(folder / "tiny")
        attention = identify(self.checkpoint).architecture.attention
        assert attention is not None
        widths = [layer.width for layer in attention.layers]
        self.adapters = {
            kind: write_adapter(
                folder / f"{kind}.safetensors", kind, widths, attention.context_width, seed
            )
            for seed, kind in enumerate(KINDS)
        }
        self.encoder = write_encoder(folder / "image_encoder")
        self.image = write_picture(folder / "cat.png")
        self.plain = self.made().pixels[0]

    def prompt(self, kind: str = "plus", **changes: Any) -> ImagePrompt:
        prompt = ImagePrompt(image=str(self.image), adapter=str(self.adapters[kind]))
        return msgspec.structs.replace(prompt, **changes)

    def made(
        self,
        *prompts: ImagePrompt,
        residency: Residency = RESIDENCY,
        results: KeptResults | None = None,
        **changes: object,
    ) -> Result:
        request = a_request(self.checkpoint, image_prompts=prompts, **({"steps": 2} | changes))
        tried = (Precision.F32,)
        return run(request, CpuBackend(), tried, residency=residency, results=results)

    def read(self, *prompts: ImagePrompt) -> JobImagePrompts:
        asked = a_request(self.checkpoint, image_prompts=prompts)
        request = with_networks(asked, NetworkLookup((self.folder,)))
        checkpoint = identify(self.checkpoint)
        files = ImagePromptFiles(read_index, (self.folder,))
        resolved = resolve(request, JobCheckpoints(checkpoint))
        return read_image_prompts(resolved, checkpoint, files)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Files]:
    yield Files(tmp_path_factory.mktemp("image_prompts"))
    RESIDENCY.release()


@pytest.mark.parametrize("kind", KINDS)
def test_an_adapter_of_each_kind_changes_the_picture(files: Files, kind: str) -> None:
    assert psnr(files.made(files.prompt(kind)).pixels[0], files.plain) < 35


@pytest.mark.parametrize(
    "changes",
    [{"weight": 0.0}, {"range": (1.0, 1.0)}, {"mask": "black"}],
    ids=["no_weight", "no_step", "black_mask"],
)
def test_an_image_prompt_that_acts_nowhere_leaves_the_picture_alike(
    files: Files, tmp_path: Path, changes: dict[str, Any]
) -> None:
    if "mask" in changes:
        Image.new("L", (8, 8)).save(tmp_path / "black.png")
        changes = {"mask": str(tmp_path / "black.png")}
    assert psnr(files.made(files.prompt(**changes)).pixels[0], files.plain) > 60


def test_each_scaling_and_each_combination_makes_another_picture(files: Files) -> None:
    dog = str(write_picture(files.folder / "dog.png", seed=5))
    prompts = [files.prompt(scaling=scaling, weight=0.6) for scaling in AdapterScaling]
    prompts += [
        files.prompt(further=(dog,), combination=combination) for combination in PictureCombination
    ]
    made = [files.made(prompt).pixels[0] for prompt in prompts]
    assert all(psnr(pixels, other) < 70 for pixels, other in combinations(made, 2))


def test_a_picture_beside_itself_is_like_the_picture_alone(files: Files) -> None:
    alone, twice = files.prompt(), files.prompt(further=(str(files.image),))
    assert psnr(files.made(alone).pixels[0], files.made(twice).pixels[0]) > 60
    (report,) = files.read(twice).reports
    assert report.further_sha256 == (report.image_sha256,)


def test_a_further_picture_that_is_not_known_leaves_the_prompt_out(files: Files) -> None:
    read = files.read(files.prompt(further=("",)))
    assert not read.acting
    assert "picture is not known" in str(read.warnings[0].message)


def test_a_mask_is_cut_where_only_what_is_masked_is_painted(files: Files, tmp_path: Path) -> None:
    large, box = 2 * SIDE, (SIDE // 2, SIDE // 2, SIDE, SIDE)
    write_picture(tmp_path / "init.png")
    Image.open(tmp_path / "init.png").resize((large, large)).save(tmp_path / "init.png")
    drawn: dict[str, tuple[int, int, int, int]] = {
        "painted": box,
        "nowhere": (0, 0, 0, 0),
        "elsewhere": (0, 0, large, 8),
    }
    for name, part in drawn.items():
        mask = Image.new("L", (large, large))
        mask.paste(255, part)
        mask.save(tmp_path / f"{name}.png")
    inputs = (
        InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),
        InputImage(role=InputRole.MASK, path=str(tmp_path / "painted.png")),
    )
    options = MaskOptions(only_masked=True, padding=8, blur=0)
    painted, nowhere, elsewhere = (
        files.made(
            files.prompt(mask=str(tmp_path / f"{name}.png")), inputs=inputs, mask_options=options
        ).pixels[0]
        for name in drawn
    )
    np.testing.assert_array_equal(elsewhere, nowhere)
    assert not np.array_equal(painted, nowhere)


def test_a_mask_holds_an_image_prompt_to_its_part(files: Files, tmp_path: Path) -> None:
    left, right = (
        write_mask(tmp_path / f"{is_left}.png", left=is_left) for is_left in (True, False)
    )
    whole = files.made(files.prompt()).pixels[0]
    parts = [files.made(files.prompt(mask=str(mask))).pixels[0] for mask in (left, right)]
    assert psnr(parts[0], parts[1]) < 45
    assert all(psnr(part, whole) < 45 for part in parts)


def test_a_weight_a_range_and_a_second_prompt_each_change_the_picture(files: Files) -> None:
    made = [
        files.made(*prompts, steps=3).pixels[0]
        for prompts in (
            (files.prompt(),),
            (files.prompt(weight=0.5),),
            (files.prompt(weight=-1.0),),
            (files.prompt(range=(0.0, 0.5)),),
            (files.prompt(), files.prompt("standard")),
        )
    ]
    for place, first in enumerate(made):
        assert all(psnr(first, other) < 50 for other in made[place + 1 :])


def test_weights_and_ranges_compile_nothing_and_leave_the_network_the_same(files: Files) -> None:
    def graph(*prompts: ImagePrompt) -> bytes:
        job = resolve_job(
            a_request(files.checkpoint, image_prompts=prompts), JobCheckpoints(checkpoint)
        )
        group = read_job(job).first
        network = group.passes[0].network(group.texts[0], group.pictures[0].texts)
        return compiler.prepared(network, Precision.F32).graph.model

    checkpoint = identify(files.checkpoint)
    backend = CpuBackend()
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(files.folder / "copies"))
    usual = graph(files.prompt())
    assert usual == graph(files.prompt(weight=0.3, range=(0.2, 0.6)))
    assert graph() == graph(files.prompt(weight=0.0)) != usual


def test_encoders_run_once_for_a_picture_and_stay_loaded(files: Files, tmp_path: Path) -> None:
    def encoded(*prompts: ImagePrompt) -> tuple[int, int]:
        phases = files.made(*prompts, residency=kept, results=results, count=2).log.phases
        return phases.count(Phase.ENCODE), phases.count(Phase.COMPILE)

    kept, results = Residency(), KeptResults()
    # The text, the encoder and two adapters; the denoiser and the decoder are loaded, too.
    assert encoded(files.prompt(), files.prompt("full")) == (4, 6)
    # Networks are kept by their names, and a single adapter has the first one.
    assert encoded(files.prompt(), files.prompt("full")) == (2, 0)
    assert encoded(files.prompt("full")) == (1, 2)
    other = files.prompt("full", image=str(write_picture(tmp_path / "other.png", 2)))
    assert encoded(other) == (2, 0)
    kept.release()


def test_a_kept_result_makes_the_same_picture(files: Files) -> None:
    results = KeptResults()
    first, again = (files.made(files.prompt(), results=results).pixels[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_image_prompts_act_beside_a_redrawn_picture_and_prompts_joined_by_and(
    files: Files,
) -> None:
    changes: dict[str, Any] = {"prompt": "a red horse AND a house", "convention": "a1111"}
    plain = files.made(**changes).pixels[0]
    assert psnr(files.made(files.prompt(), **changes).pixels[0], plain) < 45


def test_files_that_were_used_are_in_the_report_and_in_the_request(files: Files) -> None:
    job = resolve_job(
        a_request(files.checkpoint, image_prompts=(files.prompt(weight=0.7),)),
        JobCheckpoints(identify(files.checkpoint)),
    )
    (report,) = job.image_prompts.reports
    assert report.name == "plus"
    assert report.encoder == str(files.encoder) == job.request.image_prompts[0].encoder
    assert len(report.image_sha256) == 64
    assert report.digest
    assert report.encoder_digest
    assert report.weight == 0.7


def test_an_adapter_that_is_not_found_leaves_its_prompt_out_with_a_warning(files: Files) -> None:
    read = files.read(files.prompt(adapter="unknown"), files.prompt(adapter=None))
    assert [warning.code for warning in read.warnings] == [ErrorCode.NOT_AVAILABLE] * 2
    assert not read.acting
    assert len(read.listed) == len(read.reports) == 2


def test_an_adapter_is_found_by_its_name_below_the_folders(files: Files) -> None:
    (acting,) = files.read(files.prompt(adapter="standard")).acting
    assert acting.prompt.adapter == str(files.adapters["standard"])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"image": "/nowhere.png"}, ErrorCode.INPUT_IMAGE_UNREADABLE),
        ({"mask": "/nowhere.png"}, ErrorCode.INPUT_IMAGE_UNREADABLE),
        ({"adapter": "/nowhere.safetensors"}, ErrorCode.CHECKPOINT_NOT_FOUND),
        ({"blocks": AdapterBlocks.STYLE}, ErrorCode.REQUEST_INVALID),
        ({"encoder": "adapter"}, ErrorCode.CHECKPOINT_UNKNOWN_FAMILY),
        ({"adapter": "encoder"}, ErrorCode.CHECKPOINT_UNKNOWN_FAMILY),
    ],
    ids=["image", "mask", "adapter", "blocks", "encoder", "swapped"],
)
def test_a_wrong_file_is_an_error_before_the_first_step(
    files: Files, changes: dict[str, str], code: ErrorCode
) -> None:
    if changes.get("encoder"):
        changes = {"encoder": str(files.adapters["full"])}
    if changes.get("adapter") == "encoder":
        changes = {"adapter": str(files.encoder / "model.safetensors")}
    with pytest.raises(EngineError) as caught:
        resolve_job(
            a_request(files.checkpoint, image_prompts=(files.prompt(**changes),)),
            JobCheckpoints(identify(files.checkpoint)),
            NamedFiles(),
        )
    assert caught.value.code is code


def test_a_tiny_picture_and_a_strip_are_image_prompts_too(files: Files, tmp_path: Path) -> None:
    for size in ((1, 1), (16000, 1)):
        Image.new("RGB", size, "red").save(tmp_path / "odd.png")
        (acting,) = files.read(files.prompt(image=str(tmp_path / "odd.png"))).acting
        assert np.isfinite(acting.shown[0].pixels).all()


def test_precise_blocks_turn_the_others_layers_away(files: Files) -> None:
    request = a_request(files.checkpoint, image_prompts=(files.prompt(),))
    job = read_job(resolve_job(request, JobCheckpoints(identify(files.checkpoint))))
    image_prompts, first_pass = job.job.image_prompts, job.passes[0]
    steps = acting_steps(first_pass.request, first_pass.denoising)
    (read,) = image_prompts.acting
    layers = attending_layers(sd15_unet())

    def turned(blocks: AdapterBlocks) -> set[int]:
        prompt = msgspec.structs.replace(read.prompt, blocks=blocks)
        attention = TextAttention(layers, 768)
        prompts = msgspec.structs.replace(
            image_prompts,
            acting=(msgspec.structs.replace(read, prompt=prompt),),
            attention=attention,
        )
        (own,) = prompts.in_pass((64, 64), 8, (), steps).prompts
        marks = () if own.turned is None else own.turned.marks
        return {layer.block for layer, turns in zip(layers, marks, strict=False) if turns}

    assert turned(AdapterBlocks.STYLE) == set()
    assert turned(AdapterBlocks.STYLE_PRECISE) == {4, 5}
    assert turned(AdapterBlocks.COMPOSITION_PRECISE) == set(range(16)) - {4, 5}
