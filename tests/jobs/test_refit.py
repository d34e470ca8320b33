"""Jobs with LoRAs on a device whose compiled networks carry their weights, and take others."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.api.lora import LoraChoice, LoraMode
from engine.api.values import ErrorCode
from tests.compile.carrying import CarryingBackend
from tests.jobs.test_loras import Studio
from tests.jobs.test_residency import NETWORKS
from tests.thinned import thinned

_STYLE = LoraChoice(file="style", strength=0.8, text_strength=0.6)
_DENOISER = LoraChoice(file="style", strength=0.8, text_strength=0.0)


def test_no_strength_compiles_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = CarryingBackend()
    studio = Studio(tmp_path, monkeypatch, backend)
    _, plain = studio.run(studio.request)
    for strength in (0.8, -0.5, 0.0):
        style = msgspec.structs.replace(_STYLE, strength=strength, text_strength=strength)
        asked = msgspec.structs.replace(studio.request, loras=(style,), lora_mode=LoraMode.MERGE)
        result, pixels = studio.run(asked)
        assert result.warnings == ()
        assert np.array_equal(pixels, plain) == (not strength)
    assert sorted(backend.compiled) == NETWORKS
    assert {name for name, changed in backend.replaced if changed} == {"denoiser", "text_encoder"}
    merged = {"loras": (_STYLE,), "lora_mode": LoraMode.MERGE}
    _, refitted = studio.run(msgspec.structs.replace(studio.request, **merged))
    plain_studio = Studio(tmp_path / "plain", monkeypatch)
    _, expected = plain_studio.run(msgspec.structs.replace(plain_studio.request, **merged))
    np.testing.assert_array_equal(refitted, expected)


def test_branches_of_denoiser_and_text_encoder_are_compiled_once_for_all_strengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = CarryingBackend(refits=False)
    studio = Studio(tmp_path, monkeypatch, backend)
    for strength in (0.8, -0.5):
        style = msgspec.structs.replace(_STYLE, strength=strength, text_strength=strength)
        result, _ = studio.run(msgspec.structs.replace(studio.request, loras=(style,)))
        assert result.images[0].record.request.lora_mode is LoraMode.SIDE
    assert sorted(backend.compiled) == NETWORKS
    assert not any(changed for _, changed in backend.replaced)


@pytest.mark.parametrize("mode", thinned([LoraMode.AUTO, LoraMode.MERGE], [LoraMode.AUTO]))
def test_where_a_refit_fails_loras_act_another_way_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: LoraMode
) -> None:
    backend = CarryingBackend(refuses=True)
    studio = Studio(tmp_path, monkeypatch, backend)
    asked = msgspec.structs.replace(studio.request, loras=(_DENOISER,), lora_mode=mode)
    result, pixels = studio.run(asked)
    (warning,) = result.warnings
    assert warning.code is ErrorCode.REFIT_FAILED
    assert warning.detail == "these weights cannot be replaced"
    record = result.images[0].record
    assert record.warnings == (warning,)
    found = LoraMode.SIDE if mode is LoraMode.AUTO else LoraMode.MERGE
    assert record.request.lora_mode is found
    tried = [name for name, changed in backend.replaced if changed]
    assert tried == ["denoiser"]

    again, same = studio.run(asked)
    assert again.warnings == ()
    np.testing.assert_array_equal(pixels, same)
    assert [name for name, changed in backend.replaced if changed] == tried

    plain_studio = Studio(tmp_path / "plain", monkeypatch)
    forced = {"loras": (_DENOISER,), "lora_mode": found}
    _, expected = plain_studio.run(msgspec.structs.replace(plain_studio.request, **forced))
    np.testing.assert_array_equal(pixels, expected)
