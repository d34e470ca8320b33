"""The LoRAs of a picture are found as files; those that are not are named."""

from pathlib import Path

import msgspec
import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.lora import LoraChoice, LoraHash
from engine.api.prompt_rules import NetworkTags
from engine.api.record import ResolvedRequest
from engine.api.remedies import NameLoraFolder
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.lora import names_below
from engine.lora.folder import LoraFolders, LoraLookup
from engine.lora.hashes import hashes_of
from engine.pipeline.found_loras import find_loras, with_paths
from engine.text.lora_strengths import RunLength
from tests.lora.test_folder import HASH, OTHER, write
from tests.metadata.records import PLAIN_REQUEST


def asked(prompt: str = "", *loras: LoraChoice, **fields: object) -> ResolvedRequest:
    return msgspec.structs.replace(PLAIN_REQUEST, prompt=prompt, loras=loras, **fields)


def lookup(folder: Path) -> LoraLookup:
    return LoraFolders(None, (folder,)).look()


def found(request: ResolvedRequest, folder: Path) -> list[tuple[str, tuple[float, ...], float]]:
    loras, _ = find_loras(request, RunLength(request.steps), lookup(folder))
    return [
        (lora.path.relative_to(folder).as_posix(), lora.use.strengths, lora.use.text_strength)
        for lora in loras
        if lora.path is not None
    ]


def warned(request: ResolvedRequest, folder: Path) -> list[str]:
    _, warnings = find_loras(request, RunLength(request.steps), lookup(folder))
    return [f"{warning.message} {warning.hint}" for warning in warnings]


def test_listed_loras_come_before_those_of_the_prompt(tmp_path: Path) -> None:
    for name in ("ink", "line"):
        write(tmp_path / f"{name}.safetensors")
    request = asked("a <lora:ink:0.5>", LoraChoice(file="line", strength=0.8, text_strength=0.2))
    assert found(request, tmp_path) == [
        ("line.safetensors", (0.8,), 0.2),
        ("ink.safetensors", (0.5,), 0.5),
    ]
    assert warned(request, tmp_path) == []


def test_without_a_text_strength_both_are_the_same(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors")
    assert found(asked("", LoraChoice(file="ink", strength=0.8)), tmp_path)[0][1:] == ((0.8,), 0.8)


def test_a_lora_that_is_not_found_is_named_with_its_hash(tmp_path: Path) -> None:
    request = asked(
        "<lora:gone:1> <lora:else:1>",
        LoraChoice(file="C:\\lost.safetensors", hash=HASH[:12]),
        lora_hashes=(LoraHash(name="gone", hash=OTHER[:12]),),
    )
    assert found(request, tmp_path) == []
    assert warned(request, tmp_path) == [
        f"The LoRA {name} was not found; the picture was made without it. "
        f"Put its file into {tmp_path}.{hint}"
        for name, hint in (
            ("lost.safetensors", f" Civitai finds it by the hash {HASH[:12]}."),
            ("gone", f" Civitai finds it by the hash {OTHER[:12]}."),
            ("else", ""),
        )
    ]


def test_a_missing_lora_has_a_code_and_a_remedy_of_its_own(tmp_path: Path) -> None:
    request = asked("<lora:gone:1>")
    _, (warning,) = find_loras(request, RunLength(request.steps), lookup(tmp_path))
    assert (warning.code, warning.remedies) == (ErrorCode.LORA_NOT_FOUND, (NameLoraFolder(),))


def test_the_hash_of_a_tag_finds_a_renamed_file(tmp_path: Path) -> None:
    write(tmp_path / "renamed.safetensors", sshs_model_hash=HASH)
    # A1111 leaves colons and commas out of the name beside a hash.
    hashes = (LoraHash(name="ink fine", hash=HASH[:12]),)
    request = asked("<lora:ink, fine:1>", lora_hashes=hashes)
    assert [path for path, *_ in found(request, tmp_path)] == ["renamed.safetensors"]


def test_a_file_that_was_hashed_to_be_found_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "renamed.safetensors")
    digits = hashes_of(path).whole[:12]
    for request in (
        asked("<lora:ink:1>", lora_hashes=(LoraHash(name="ink", hash=digits),)),
        asked("", LoraChoice(file="ink", hash=digits)),
    ):
        looking = lookup(tmp_path)
        _, warnings = find_loras(with_paths(request, looking), RunLength(request.steps), looking)
        (warning,) = warnings
        assert "renamed.safetensors was found by its hash" in warning.message


def test_a_missing_lora_tells_of_files_that_are_not_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names_below, "MOST_HASHED_BYTES", 0)
    write(tmp_path / "other.safetensors")
    (text,) = warned(asked("", LoraChoice(file="ink", hash=HASH[:12])), tmp_path)
    assert "1 of the files there are not hashed yet" in text


def test_a_file_of_another_hash_is_told(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors", sshs_model_hash=OTHER)
    request = asked("", LoraChoice(file="ink", hash=HASH[:12]))
    assert len(found(request, tmp_path)) == 1
    assert "has another hash" in warned(request, tmp_path)[0]


def test_files_of_one_name_are_told_with_both_paths(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name / "ink.safetensors") for name in "ab")
    (warning,) = warned(asked("<lora:ink:1>"), tmp_path)
    assert f"{first} is used, not {second}." in warning


def test_remarks_about_tags_are_warnings(tmp_path: Path) -> None:
    assert "hypernetwork anime" in warned(asked("<hypernet:anime:1>"), tmp_path)[0]


def test_too_many_loras_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="more than 128 LoRAs"):
        found(asked("<lora:a:1>" * 129), tmp_path)


def test_a_hundred_loras_are_found_in_their_order(tmp_path: Path) -> None:
    names = [f"style{number}" for number in range(100)]
    for name in names:
        write(tmp_path / f"{name}.safetensors")
    prompt = "".join(f"<lora:{name}:0.01>" for name in names[50:])
    request = asked(prompt, *(LoraChoice(file=name, strength=0.01) for name in names[:50]))
    wanted = [(f"{name}.safetensors", (0.01,), 0.01) for name in names]
    assert found(request, tmp_path) == wanted
    assert warned(request, tmp_path) == []


def test_names_in_the_list_become_paths_where_they_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "ink.safetensors")
    request = asked("", LoraChoice(file="ink", strength=0.3), LoraChoice(file="gone"))
    assert with_paths(request, lookup(tmp_path)).loras == (
        LoraChoice(file=str(path), strength=0.3),
        LoraChoice(file="gone"),
    )


def test_a_file_that_was_deleted_since_is_looked_for_by_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "old" / "ink.safetensors")
    request = with_paths(asked("", LoraChoice(file="ink")), lookup(tmp_path))
    path.rename(tmp_path / "ink.safetensors")
    assert [name for name, *_ in found(request, tmp_path)] == ["ink.safetensors"]
    (tmp_path / "ink.safetensors").unlink()
    assert "was not found" in warned(request, tmp_path)[0]


def test_a_lora_acts_if_it_is_found_and_strong(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors")
    prompt = "<lora:ink:0> <lora:ink:te=0.1:unet=0> <lora:gone:1> <lora:ink:0@0,1@1>"
    convention = msgspec.structs.replace(PLAIN_REQUEST.convention, network_tags=NetworkTags.TIMED)
    named, _ = find_loras(asked(prompt, convention=convention), RunLength(4), lookup(tmp_path))
    assert [lora.acts for lora in named] == [False, True, False, True]


def test_a_path_in_a_prompt_is_a_name(tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere" / "ink.safetensors")
    empty = tmp_path / "loras"
    assert found(asked(f"<lora:{path}:1>"), empty) == []
    assert (
        len(find_loras(asked("", LoraChoice(file=str(path))), RunLength(4), lookup(empty))[0]) == 1
    )


def test_presets_beside_the_loras_are_known(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors")
    (tmp_path / "lbwpresets.txt").write_text(f"MINE:{','.join('2' * 12)}", "utf-8")
    (tmp_path / "elempresets.txt").write_text("SOFT::attn:0.5", "utf-8")
    request = asked("<lora:ink:1:lbw=MINE:lbwe=SOFT>")
    ((ink,), warnings) = find_loras(request, RunLength(20), lookup(tmp_path))
    assert warnings == ()
    assert ink.use.blocks is not None
    assert (ink.use.blocks.factor("M00", "x_attn1"), ink.use.blocks.factor("M00", "x")) == (0.5, 2)


def test_random_weights_differ_from_picture_to_picture(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors")
    request = asked("<lora:ink:1:lbw=R,R,R,R,R,R,R,R,R,R,R,R>", seed=5)
    seeds = request.seed_options
    batch = msgspec.structs.replace(seeds, batch_index=1, batch_size=2)
    requests = (request, request, asked(request.prompt, seed=6))
    requests += (msgspec.structs.replace(request, seed_options=batch),)
    drawn = [
        find_loras(request, RunLength(20), lookup(tmp_path))[0][0].use.blocks
        for request in requests
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[3] != drawn[0]


def test_tags_that_are_words_are_told(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors")
    tag = "<lora:ink:1>"
    negative = asked("a house", negative_prompt=tag)
    assert warned(negative, tmp_path) == [
        "The LoRA ink in the negative prompt does not act. Add it to the list of LoRAs."
    ]
    of_comfy = msgspec.structs.replace(asked(tag), convention=CONVENTIONS[ConventionName.COMFY])
    (warning,) = warned(of_comfy, tmp_path)
    assert warning.startswith("The LoRA ink in the prompt does not act: the tool")
    assert warned(asked(f"{tag}\n# <lora:ink:2>"), tmp_path) == []
