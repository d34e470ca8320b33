"""Sizes as people and tools write them."""

import pytest

from engine.metadata.size_text import read_size


@pytest.mark.parametrize(
    "text",
    ["512x768", "512X768", "512 x 768", "512\u00d7768", " 512*768px ", "512 x 768 (portrait)"],
)
def test_a_size_is_read_however_it_is_spelt(text: str) -> None:
    assert read_size(text) == (512, 768)


@pytest.mark.parametrize(
    "value", ["512x", "x", "5x5x5", "-1x5", "1" * 400 + "x5", "\u0663x\u0663", "", "5x5 ((a))"]
)
def test_a_text_without_a_size_is_refused(value: str) -> None:
    assert read_size(value) is None
