"""Files that layers and passes name, found by names, by other tools' hashes and by contents."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.preprocessors import CannyOptions, HedOptions
from engine.api.request import GenerateRequest
from engine.api.second_passes import SecondPass
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import identify
from engine.lora.hashes import legacy_hash
from engine.pipeline.control.layers import read_layers
from engine.pipeline.found_networks import with_networks
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.network_lookup import NetworkLookup, WantedNetwork, content_digest
from engine.pipeline.resolve import resolve
from engine.preprocessors.annotators import AnnotatorKind
from tests.checkpoints.arrays import write_arrays
from tests.image_prompts.files import write_adapter, write_encoder
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.jobs import a_request
from tests.preprocessors.annotator_files import stored
from tests.tiny_checkpoint import write_checkpoint


class Models:
    """A folder of models: a checkpoint, two ControlNets of one shape, an adapter and weights."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkpoint = write_checkpoint(folder / "checkpoints" / "tiny")
        nets = folder / "ControlNet" / "sd15"
        nets.mkdir(parents=True)
        self.depth = write_control_net(nets / "depth.safetensors", self.checkpoint, 1)
        self.canny = write_control_net(nets / "control_v11p.canny.safetensors", self.checkpoint, 2)
        attention = identify(self.checkpoint).architecture.attention
        assert attention is not None
        widths = [layer.width for layer in attention.layers]
        (folder / "ipadapter").mkdir()
        self.adapter = folder / "ipadapter" / "plus.safetensors"
        write_adapter(self.adapter, "plus", widths, attention.context_width)
        self.encoder = write_encoder(folder / "clip_vision" / "small")
        self.picture = write_map(folder.parent / "map.png")

    def layer(self, network: str | None, **changes: object) -> ControlLayer:
        layer = ControlLayer(image=str(self.picture), network=network)
        return msgspec.structs.replace(layer, **changes)

    def found(self, **fields: object) -> GenerateRequest:
        return with_networks(a_request(self.checkpoint, **fields), NetworkLookup((self.folder,)))

    def network_of(self, layer: ControlLayer) -> str | None:
        return self.found(controls=(layer,)).controls[0].network


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("found") / "models")


@pytest.mark.parametrize(
    "name",
    ["control_v11p.canny", "sd15\\control_v11p.canny.safetensors", "sd15/control_v11p.canny"],
)
def test_a_network_is_found_by_the_names_that_tools_write(models: Models, name: str) -> None:
    assert models.network_of(models.layer(name)) == str(models.canny)


def test_a_name_of_another_kind_of_file_is_not_taken(models: Models) -> None:
    assert models.network_of(models.layer("plus")) == "plus"
    assert (
        models.found(image_prompts=(ImagePrompt(image="x", adapter="depth"),))
        .image_prompts[0]
        .adapter
        == "depth"
    )


def test_a_network_is_found_by_other_tools_hashes(models: Models) -> None:
    whole = hashlib.sha256(models.canny.read_bytes()).hexdigest()
    for digits in (whole, whole[:10]):
        assert models.network_of(models.layer("renamed", hash=digits)) == str(models.canny)
    # The file that has the hash comes before the one that has the name.
    assert models.network_of(models.layer("depth", hash=whole)) == str(models.depth)
    assert legacy_hash(models.canny)
    assert models.network_of(models.layer(None, hash=whole)) == str(models.canny)


def test_files_are_found_by_their_contents_under_other_names(
    models: Models, tmp_path: Path
) -> None:
    gone = str(tmp_path / "gone.safetensors")
    digests = {
        path: content_digest(path) for path in (models.canny, models.adapter, models.encoder)
    }
    layer = models.layer(gone, digest=digests[models.canny])
    prompt = ImagePrompt(
        image=str(models.picture),
        adapter=gone,
        digest=digests[models.adapter],
        encoder=str(tmp_path / "gone"),
        encoder_digest=digests[models.encoder],
    )
    second = SecondPass(
        upscaler="lanczos", checkpoint=gone, checkpoint_digest=digests[models.canny]
    )
    found = models.found(controls=(layer,), image_prompts=(prompt,), second_passes=(second,))
    assert found.controls == (models.layer(str(models.canny)),)
    (shown,) = found.image_prompts
    assert (shown.adapter, shown.encoder) == (str(models.adapter), str(models.encoder))
    assert (shown.digest, shown.encoder_digest) == (None, None)
    assert found.second_passes[0].checkpoint == str(models.canny)
    without = msgspec.structs.replace(prompt, encoder_digest=None)
    assert models.found(image_prompts=(without,)).image_prompts[0].encoder is None


def test_a_path_of_nothing_is_an_error_that_tells_what_was_looked_for(
    models: Models, tmp_path: Path
) -> None:
    gone = str(tmp_path / "gone.safetensors")
    for fields, words in (
        ({"controls": (models.layer(gone, digest="ab" * 32),)}, "The control network gone"),
        (
            {"image_prompts": (ImagePrompt(image="x", adapter=gone),)},
            "The image prompt adapter gone",
        ),
        ({"second_passes": (SecondPass(upscaler=gone),)}, "The upscaler gone"),
        ({"second_passes": (SecondPass(checkpoint=gone),)}, "The model gone"),
        (
            {
                "controls": (
                    models.layer(
                        str(models.canny), preprocessor=HedOptions(), preprocessor_weights=gone
                    ),
                )
            },
            "The weights gone",
        ),
    ):
        with pytest.raises(EngineError, match=words) as told:
            models.found(**fields)
        assert told.value.code is ErrorCode.CHECKPOINT_NOT_FOUND
        assert gone in str(told.value.advice)


def test_weights_of_a_usual_name_are_noted_with_their_content(
    models: Models, tmp_path: Path
) -> None:
    weights = models.folder / "ControlNetHED.pth"
    write_arrays(weights, stored(AnnotatorKind.HED))
    layer = models.layer(str(models.canny), preprocessor=HedOptions(resolution=64))
    (found,) = models.found(controls=(layer,)).controls
    assert found.preprocessor_weights == str(weights)
    checkpoints = JobCheckpoints(identify(models.checkpoint))
    request = resolve(a_request(models.checkpoint, controls=(found,)), checkpoints)
    (read,) = read_layers(request, checkpoints).acting
    digest = content_digest(weights)
    assert read.report("").preprocessor_digest == digest
    renamed = weights.rename(models.folder / "hed.pth")
    moved = msgspec.structs.replace(found, preprocessor_digest=digest)
    assert models.found(controls=(moved,)).controls[0].preprocessor_weights == str(renamed)
    renamed.unlink()
    plain = models.layer(str(models.canny), preprocessor=CannyOptions())
    assert models.found(controls=(plain,)).controls[0].preprocessor_weights is None


def test_a_layer_without_its_files_is_left_out_and_told(models: Models) -> None:
    checkpoints = JobCheckpoints(identify(models.checkpoint))
    layers = (
        models.layer("nowhere", hash="d4ba51ff"),
        models.layer(str(models.canny), image=""),
        models.layer(None, image=""),
        models.layer(str(models.canny)),
    )
    request = models.found(controls=layers)
    read = read_layers(resolve(request, checkpoints), checkpoints)
    assert [read_layer.layer for read_layer in read.acting] == [layers[-1]]
    told = [f"{warning.message} {warning.hint}" for warning in read.warnings]
    assert "nowhere" in told[0]
    assert "d4ba51ff" in told[0]
    assert "picture is not known" in told[1]
    assert "control_v11p.canny" in told[1]
    assert "picture is not known" in told[2]
    assert len(read.left_out) == 3


def test_a_layer_that_is_off_is_left_alone(models: Models) -> None:
    layer = models.layer("/nowhere/gone.safetensors", enabled=False, digest="ab" * 32)
    assert models.found(controls=(layer,)).controls == (layer,)


def test_a_network_in_a_folder_is_found_by_its_content_and_name(
    models: Models, tmp_path: Path
) -> None:
    config = '{"_class_name": "ControlNetModel"}'
    folder = models.folder / "nets" / "mine"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config)
    write_control_net(folder / "diffusion_pytorch_model.safetensors", models.checkpoint, 3)
    digest = content_digest(folder)
    assert digest
    layer = models.layer(str(tmp_path / "gone"), digest=digest)
    assert models.network_of(layer) == str(folder)
    assert NetworkLookup((models.folder,)).find(WantedNetwork("mine")) == folder
