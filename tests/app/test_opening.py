"""A file that is dropped or chosen is used as the kind of file that it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.api.lora_files import LoraInfo
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.values import ConventionName
from tests.app.fake_engine import Plan
from tests.app.loras import lora
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.checkpoints.files import write_sparse


def described(path: Path) -> LoraInfo:
    """The engine's words on a PyTorch file, by the file's name."""
    facts = {
        "ink": {},
        "line": {},
        "token": {"is_embedding": True, "problem": "token.pt is an embedding, not a LoRA."},
        "mix": {"problem": "mix.ckpt is a checkpoint of SD 1.x, not a LoRA."},
    }
    return lora(path.stem, path=str(path), **facts[path.stem])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {name: tmp_path / name for name in ("ink.pt", "line.ckpt", "token.pt", "mix.ckpt")}


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot, files: dict[str, Path]) -> Iterator[Staged]:
    plan = Plan(loras=tuple(map(described, files.values())))
    staged = Staged(tmp_path / "own", qtbot, fake_command(plan), QUICK)
    # The engine lists no folder here, so that it is asked about each file.
    staged.session.process.start()
    yield staged
    staged.end()


CONTROL = {"controlnet_cond_embedding.conv_in.weight": (4, 4)}
UPSCALER = {"model.0.weight": (4, 4)}
VAE = {"decoder.conv_in.weight": (4, 4)}


@pytest.mark.parametrize(
    ("names", "kind", "problem"),
    [
        (CONTROL, ModelKind.CONTROLNET, ""),
        (VAE, ModelKind.VAE, ""),
        (UPSCALER, ModelKind.UPSCALER, ""),
        (CONTROL, ModelKind.CONTROLNET, "It is for another kind of model."),
        (UPSCALER, ModelKind.TEXT_ENCODER, ""),
    ],
)
def test_a_network_that_is_no_model_goes_to_its_own_place(
    tmp_path: Path,
    qtbot: QtBot,
    names: dict[str, tuple[int, ...]],
    kind: ModelKind,
    problem: str,
) -> None:
    """Once any such file became the model, with a message that it is none."""
    path = write_sparse(tmp_path / "net.safetensors", names)
    model = ModelInfo(
        path=str(path), name="net", root="", size=1, modified_ns=1, kind=kind, problem=problem
    )
    staged = Staged(tmp_path / "own", qtbot, fake_command(Plan(models=(model,))), QUICK)
    staged.session.process.start()
    form = staged.session.generation
    before = form.checkpoint
    staged.session.open_file(path)
    staged.wait(lambda: bool(staged.session.notices.notices))
    assert form.checkpoint == before
    (notice,) = staged.session.notices.notices
    places = {
        ModelKind.CONTROLNET: lambda: form.controls[0].network,
        ModelKind.VAE: lambda: form.declaration.components.vae,
        ModelKind.UPSCALER: lambda: form.second_passes[0].upscaler,
    }
    if problem or kind not in places:
        assert notice.message.startswith("net.safetensors has no place")
        assert notice.hint == problem
    else:
        assert places[kind]() == str(path)
    staged.end()


def test_a_network_that_the_engine_cannot_describe_becomes_the_model(
    staged: Staged, tmp_path: Path
) -> None:
    path = write_sparse(tmp_path / "net.safetensors", UPSCALER)
    staged.session.open_file(path)
    staged.wait(lambda: staged.session.generation.checkpoint == path)


def listed(staged: Staged) -> list[str]:
    return [choice.file for choice in staged.session.generation.loras]


def test_a_pytorch_file_with_the_keys_of_a_lora_joins_the_list(
    staged: Staged, files: dict[str, Path]
) -> None:
    session = staged.session
    before = session.generation.checkpoint
    session.open_file(files["ink.pt"])
    staged.wait(lambda: bool(listed(staged)))
    assert listed(staged) == [str(files["ink.pt"])]
    assert session.generation.checkpoint == before
    (notice,) = session.notices.notices
    assert notice.undo is not None


def test_a_pytorch_file_that_is_no_lora_becomes_the_model(
    staged: Staged, files: dict[str, Path], tmp_path: Path
) -> None:
    session = staged.session
    for path in (files["mix.ckpt"], tmp_path / "unknown.ckpt"):
        session.open_file(path)
        staged.wait(lambda path=path: session.generation.checkpoint == path)
    assert listed(staged) == []


@pytest.mark.parametrize(
    ("convention", "spelled"),
    [
        (ConventionName.A1111, "a cat, token"),
        (ConventionName.COMFY, "a cat, embedding:token"),
        (ConventionName.INVOKE, "a cat, <token>"),
    ],
)
def test_an_embedding_is_copied_to_the_others_and_named(
    staged: Staged, files: dict[str, Path], convention: ConventionName, spelled: str
) -> None:
    session, folder = staged.session, staged.paths.models / "embeddings"
    session.generation.convention, session.generation.prompt = convention, "a cat"
    files["token.pt"].write_bytes(b"PK learned")
    session.open_file(files["token.pt"])
    staged.wait(lambda: session.generation.prompt == spelled)
    assert (folder / "token.pt").read_bytes() == b"PK learned"
    (notice,) = session.notices.notices
    assert str(folder) in notice.details[0]
    assert notice.undo is not None
    notice.undo()
    assert session.generation.prompt == "a cat"
    # Once more: the copy is known by its content.
    session.open_file(files["token.pt"])
    staged.wait(lambda: session.generation.prompt == spelled)
    assert [path.name for path in folder.iterdir()] == ["token.pt"]


def test_an_embedding_without_a_usable_name_is_explained(staged: Staged, tmp_path: Path) -> None:
    session = staged.session
    session.generation.convention = ConventionName.COMFY
    before = session.generation.form
    session.open_file(write_sparse(tmp_path / "my cat.safetensors", {"emb_params": (2, 768)}))
    (notice,) = session.notices.notices
    assert notice.hint.endswith("rename my cat.safetensors.")
    assert session.generation.form == before


def test_an_embedding_that_cannot_be_copied_is_told_and_named_nowhere(
    staged: Staged, files: dict[str, Path]
) -> None:
    session, folder = staged.session, staged.paths.models / "embeddings"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"no folder")
    files["token.pt"].write_bytes(b"PK learned")
    before = session.generation.prompt
    session.open_file(files["token.pt"])
    staged.wait(lambda: bool(session.notices.notices))
    (notice,) = session.notices.notices
    assert notice.message == "token.pt could not be copied."
    assert session.generation.prompt == before


def test_all_loras_that_are_dropped_together_join_the_list(
    staged: Staged, files: dict[str, Path]
) -> None:
    before = staged.session.generation.checkpoint
    first, *others = (files[name] for name in ("ink.pt", "mix.ckpt", "line.ckpt"))
    staged.session.opening.open_with(first, others)
    staged.wait(lambda: len(listed(staged)) == 2)
    assert listed(staged) == [str(files["ink.pt"]), str(files["line.ckpt"])]
    assert staged.session.generation.checkpoint == before
