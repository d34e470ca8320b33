"""The control layers and image prompts of the form: their files, their order and their use."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from app.commands.layers import LayerCommands
from app.form.control_defaults import kind_in_name, kind_of, preprocessor_for
from app.form.layer_list import LayerFate, LayerList
from app.form.presets import PresetPart
from engine.api.control import MAX_CONTROLS, ControlLayer
from engine.api.features import ConcatChannels, Features, OptionalSetting
from engine.api.image_prompts import ImagePrompt
from engine.api.lora import LoraChoice
from engine.api.preprocessors import (
    CannyOptions,
    ControlKind,
    DepthOptions,
    InvertOptions,
    MapTarget,
)
from tests.app.fake_engine import Plan
from tests.app.layers import ADAPTER, BROKEN, CANNY, CANNY_XL, DEPTH, MODELS, listed
from tests.app.loras import lora
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.app.test_lora_list import choose


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    map_path = tmp_path / "map.png"
    Image.new("RGB", (32, 32), "white").save(map_path)
    plan = Plan(models=MODELS, map=str(map_path), moved=(("ab" * 32, CANNY.path),))
    staged = Staged(tmp_path, qtbot, fake_command(plan), QUICK)
    staged.start()
    staged.session.control_list.list_files()
    staged.wait(lambda: staged.session.control_list.is_listed)
    choose(staged, "sd1")
    yield staged
    staged.end()


def fates(layers: LayerList) -> list[LayerFate]:
    return [row.fate for row in layers.rows]


def controls(staged: Staged) -> LayerCommands:
    return staged.session.control


def used(staged: Staged) -> list[str | None]:
    return [layer.network for layer in staged.session.generation.build_request().controls]


def undo(staged: Staged) -> None:
    notice = staged.session.notices.notices[-1]
    assert notice.undo is not None
    notice.undo()


def test_files_that_suit_the_checkpoint_are_offered_first(staged: Staged) -> None:
    layers = staged.session.control_list
    assert layers.offered == (DEPTH, CANNY, CANNY_XL, BROKEN)
    choose(staged, "sdxl")
    assert layers.offered[0] == CANNY_XL
    assert staged.session.image_prompt_list.offered == (ADAPTER,)


def test_a_layer_without_a_network_is_kept_and_left_out_of_requests(staged: Staged) -> None:
    controls(staged).open(Path("/pictures/pose.png"))
    assert fates(staged.session.control_list) == [LayerFate.UNCHOSEN]
    assert staged.session.generation.build_request().controls == ()
    undo(staged)
    assert staged.session.generation.controls == ()


def test_the_only_suiting_file_is_chosen_for_a_new_picture(staged: Staged) -> None:
    staged.session.image_prompt.add("/pictures/style.png")
    expected = (ImagePrompt(image="/pictures/style.png", adapter=ADAPTER.path),)
    assert staged.session.generation.build_request().image_prompts == expected


def test_the_only_suiting_file_is_chosen_once_the_files_are_known(staged: Staged) -> None:
    # A first picture is what has the user's files listed.
    store = staged.session.models.store
    store.refresh_if_asked_for()
    assert store.is_listing
    staged.session.image_prompt.add("/pictures/style.png")
    staged.session.image_prompt.add("/pictures/other.png")
    staged.session.image_prompt.change(1, weight=0.5)
    staged.wait(lambda: not store.is_listing)
    adapters = [image_prompt.adapter for image_prompt in staged.session.generation.image_prompts]
    assert adapters == [ADAPTER.path, None]


def test_the_first_picture_gets_the_only_suiting_file(tmp_path: Path, qtbot: QtBot) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan(models=MODELS)), QUICK)
    staged.start()
    choose(staged, "sd1")
    staged.session.image_prompt.add("/pictures/style.png")
    staged.wait(lambda: staged.session.image_prompt_list.is_known)
    assert staged.session.generation.image_prompts[0].adapter == ADAPTER.path
    staged.end()


def test_a_network_brings_the_preprocessor_of_its_kind_unless_one_serves_it(
    staged: Staged,
) -> None:
    commands = controls(staged)
    commands.add("/pictures/pose.png")
    commands.choose_file(0, CANNY)
    layer = ControlLayer(
        image="/pictures/pose.png", network=CANNY.path, preprocessor=CannyOptions()
    )
    assert staged.session.generation.controls == (layer,)
    commands.change(0, preprocessor=InvertOptions())
    commands.choose_file(0, CANNY)
    assert staged.session.generation.controls[0].preprocessor == InvertOptions()
    commands.choose_file(0, DEPTH)
    assert staged.session.generation.controls[0].preprocessor == DepthOptions()


def test_files_for_another_family_and_broken_ones_are_left_out(staged: Staged) -> None:
    commands = controls(staged)
    for info in (CANNY, CANNY_XL, BROKEN):
        commands.add("/pictures/pose.png")
        commands.choose_file(len(commands.layers) - 1, info)
    layers = staged.session.control_list
    assert fates(layers) == [LayerFate.APPLIED, LayerFate.UNSUITED, LayerFate.BROKEN]
    assert used(staged) == [CANNY.path]
    choose(staged, "sdxl")
    assert used(staged) == [CANNY_XL.path]
    commands.change(1, enabled=False)
    assert fates(layers)[1] is LayerFate.OFF
    assert used(staged) == []


@pytest.mark.parametrize(
    "layer",
    [
        ControlLayer(image="/a.png", network="control_v11p_sd15_canny [d14c016b]"),
        ControlLayer(image="/a.png", network="D:\\cn\\control_v11p_sd15_canny.pth"),
        ControlLayer(image="/a.png", network="renamed", hash="abababab"),
    ],
)
def test_a_file_that_another_tool_names_is_found_by_name_or_hash(
    staged: Staged, layer: ControlLayer
) -> None:
    staged.session.generation.controls = (layer,)
    staged.wait(lambda: fates(staged.session.control_list) == [LayerFate.APPLIED])
    assert used(staged) == [CANNY.path]


def test_a_missing_file_is_told_until_it_is_found(staged: Staged, tmp_path: Path) -> None:
    layers = staged.session.control_list
    staged.session.generation.controls = (
        ControlLayer(image="/a.png", network="unheard of [00000000]"),
        ControlLayer(image="/a.png", network=str(tmp_path / "gone.safetensors")),
    )
    staged.wait(lambda: fates(layers) == [LayerFate.MISSING, LayerFate.MISSING])
    assert used(staged) == []
    (tmp_path / "gone.safetensors").touch()
    staged.session.look_again()
    staged.wait(lambda: fates(layers)[1] is LayerFate.UNREAD)
    controls(staged).use_file(0, Path(CANNY.path))
    assert used(staged) == [CANNY.path, str(tmp_path / "gone.safetensors")]
    undo(staged)
    assert fates(layers)[0] is LayerFate.MISSING


def test_a_moved_file_is_found_by_the_content_that_a_record_states(staged: Staged) -> None:
    layers = staged.session.control_list
    stated = "/elsewhere/before.safetensors"
    staged.session.generation.controls = (
        ControlLayer(image="/a.png", network=stated, digest="ab" * 32),
        ControlLayer(image="/a.png", network="/elsewhere/gone.safetensors", digest="cd" * 32),
    )
    staged.wait(lambda: fates(layers) == [LayerFate.APPLIED, LayerFate.MISSING])
    assert layers.rows[0].info == CANNY
    assert used(staged) == [CANNY.path]


def test_layers_are_moved_removed_and_put_back(staged: Staged) -> None:
    commands = controls(staged)
    for name in "abc":
        commands.add(f"/{name}.png")
    commands.move(0, 2)
    assert [layer.image for layer in commands.layers] == ["/b.png", "/c.png", "/a.png"]
    commands.move(2, 3)
    commands.remove(1)
    assert [layer.image for layer in commands.layers] == ["/b.png", "/a.png"]
    undo(staged)
    assert [layer.image for layer in commands.layers] == ["/b.png", "/c.png", "/a.png"]


def test_a_full_list_takes_no_more(staged: Staged) -> None:
    commands = controls(staged)
    for _ in range(MAX_CONTROLS + 1):
        commands.add("/a.png")
    assert len(commands.layers) == MAX_CONTROLS
    assert str(MAX_CONTROLS) in staged.session.notices.notices[-1].message


def test_layers_are_a_part_of_presets_and_stay_with_the_form(staged: Staged) -> None:
    session = staged.session
    controls(staged).add("/a.png")
    session.presets.save("followed", [PresetPart.LAYERS])
    session.generation.controls = ()
    session.changes.reset()
    session.changes.use_preset(session.presets.store.presets[-1])
    assert [layer.image for layer in session.generation.controls] == ["/a.png"]


def test_a_map_is_made_anew_when_its_options_change(staged: Staged, tmp_path: Path) -> None:
    session, commands = staged.session, controls(staged)
    commands.add("/a.png")
    assert session.control_maps.of(session.generation.controls[0]).path == "/a.png"
    commands.choose_file(0, CANNY)
    for low in (100, 50):
        commands.change(0, preprocessor=CannyOptions(low=low))
        layer = session.generation.controls[0]
        assert session.control_maps.of(layer).path == ""
        staged.wait(
            lambda layer=layer: session.control_maps.of(layer).path == str(tmp_path / "map.png")
        )


def test_a_map_of_the_start_picture_is_asked_for_with_the_margins_around_it(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, asked = staged.session, list[MapTarget]()

    def request(
        _place: str, _image: str, _options: object, _file: object, target: MapTarget
    ) -> None:
        asked.append(target)

    monkeypatch.setattr(session.maps, "request", request)
    form = session.generation
    form.start_from("/a.png", 512, 512)
    form.controls = tuple(
        ControlLayer(image=image, preprocessor=CannyOptions(resolution=None))
        for image in ("/a.png", "/b.png")
    )
    staged.wait(lambda: len(asked) == 2)
    form.grow((128, 0, 0, 64), 512, 512)
    staged.wait(lambda: len(asked) == 4)
    size = form.effective
    assert asked[2] == MapTarget(size.width, size.height, margins=(128, 0, 0, 64))
    assert asked[3] == MapTarget(size.width, size.height)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("control_v11p_sd15_softedge", ControlKind.SOFTEDGE),
        ("diffusers/controlnet-depth-sdxl-1.0", ControlKind.DEPTH),
        ("t2iadapter_openpose_sd14v1", ControlKind.POSE),
        ("control_v11f1e_sd15_tile", ControlKind.TILE),
        ("control_v11f1e_sd15_tile_colorfix", ControlKind.TILE),
        ("control-lora-recolor-rank256", ControlKind.RECOLOR),
        ("control-lora-openposeXL2-rank256", ControlKind.POSE),
        ("t2iadapter_keypose_sd14v1", ControlKind.POSE),
        ("FLUX.1-dev-ControlNet-Surface-Normals", ControlKind.NORMAL),
        ("cldm_v15_pidinet", ControlKind.SOFTEDGE),
        ("line-art/diffusion_pytorch_model", ControlKind.LINEART),
        ("canny/control_v11f1p_sd15_depth", ControlKind.DEPTH),
        ("control_v1p_sd15_qrcode_monster", None),
        ("controlnet-union-sdxl-1.0", None),
        ("canny_depth_mix", None),
    ],
)
def test_a_networks_name_tells_the_kind_of_its_map(name: str, kind: ControlKind | None) -> None:
    assert kind_in_name(name) == kind


def test_a_kind_that_tensors_state_decides_over_names_and_choices() -> None:
    painter = msgspec.structs.replace(CANNY, follows=ControlKind.INPAINT)
    layer = ControlLayer(image="a.png", network=CANNY.path, preprocessor=CannyOptions())
    assert kind_of(layer, CANNY) is ControlKind.CANNY
    for stated in (layer, msgspec.structs.replace(layer, kind=ControlKind.DEPTH)):
        assert kind_of(stated, painter) is ControlKind.INPAINT
        assert preprocessor_for(stated, painter).preprocessor is None


def test_files_of_other_kinds_are_not_offered(staged: Staged) -> None:
    other = listed("loras/ink")
    assert other not in staged.session.control_list.offered


def test_a_model_that_takes_no_layers_leaves_them_out_until_another_is_chosen(
    staged: Staged,
) -> None:
    staged.session.control.add("/pictures/a.png")
    staged.session.control.choose_file(0, CANNY)
    choose(staged, "sd1", Features())
    assert fates(staged.session.control_list) == [LayerFate.UNTAKEN]
    assert used(staged) == []
    choose(staged, "sd1")
    assert fates(staged.session.control_list) == [LayerFate.APPLIED]
    assert used(staged) == [CANNY.path]


def test_a_layer_without_a_picture_is_left_out_and_makes_no_map(staged: Staged) -> None:
    layer = ControlLayer(image="", network=CANNY.path, preprocessor=CannyOptions())
    staged.session.generation.controls = (layer,)
    assert fates(staged.session.control_list) == [LayerFate.BARE]
    assert used(staged) == []
    assert not staged.session.control_maps.of(layer).path
    missing = ControlLayer(image="", network="nowhere")
    staged.session.generation.controls = (missing,)
    assert fates(staged.session.control_list) == [LayerFate.MISSING]


def test_a_model_that_follows_a_map_itself_needs_no_network(staged: Staged) -> None:
    features = Features(
        concat_channels=ConcatChannels.MAP,
        own_map=ControlKind.CANNY,
        options=(OptionalSetting.CONTROLS,),
    )
    choose(staged, "flux1", features)
    assert staged.session.obstacle.found is not None
    controls(staged).open(Path("/pictures/house.png"))
    assert staged.session.obstacle.found is None
    assert fates(staged.session.control_list) == [LayerFate.APPLIED]
    (layer,) = staged.session.generation.build_request().controls
    assert (layer.network, layer.preprocessor) == (None, CannyOptions())
    # With another model the layer waits for a network; one chosen there is given up here.
    choose(staged, "sd1")
    assert staged.session.obstacle.found is None
    assert staged.session.generation.build_request().controls == ()
    controls(staged).choose_file(0, DEPTH)
    choose(staged, "flux1", features)
    assert fates(staged.session.control_list) == [LayerFate.UNSUITED]
    controls(staged).choose_model(0)
    (layer,) = staged.session.generation.build_request().controls
    assert (layer.network, layer.preprocessor) == (None, CannyOptions())


def test_a_model_follows_a_map_itself_with_a_control_lora(tmp_path: Path, qtbot: QtBot) -> None:
    led = lora("canny-dev-lora", families=("flux1",), takes_map=True)
    staged = Staged(tmp_path, qtbot, fake_command(Plan(loras=(led,))), QUICK)
    staged.start()
    choose(staged, "flux1", Features(options=(OptionalSetting.CONTROLS,)))
    controls(staged).open(Path("/pictures/house.png"))
    assert fates(staged.session.control_list) == [LayerFate.UNCHOSEN]
    assert staged.session.generation.build_request().controls == ()
    staged.session.loras.refresh()
    staged.wait(lambda: bool(staged.session.loras.listing.files))
    staged.session.generation.loras = (LoraChoice(file=led.path),)
    assert fates(staged.session.control_list) == [LayerFate.APPLIED]
    (layer,) = staged.session.generation.build_request().controls
    assert layer.network is None
    staged.session.generation.loras = (LoraChoice(file=led.path, enabled=False),)
    assert staged.session.generation.build_request().controls == ()
    staged.end()
