"""The postcards of the empty canvas: few kilobytes, and words that the starter knows."""

import pytest
from PySide6.QtGui import QImage

from app.form.examples import STARTER_EXAMPLES, StarterExample
from app.form.starter_words import unknown_words
from ui.first_postcards import POSTCARDS, picture_file


@pytest.mark.parametrize("card", POSTCARDS, ids=lambda card: card.postcard)
def test_a_postcard_is_a_small_picture(card: StarterExample) -> None:
    content = picture_file(card).read_bytes()
    image = QImage(str(picture_file(card)))
    assert (image.width(), image.height()) == (256, 256)
    assert len(content) < 8000
    assert b"EXIF" not in content


def test_there_are_six_different_ones() -> None:
    assert len({(card.postcard, card.prompt) for card in POSTCARDS}) == 6


@pytest.mark.parametrize("example", STARTER_EXAMPLES, ids=lambda example: example.prompt)
def test_the_starter_knows_the_words_of_each_example(example: StarterExample) -> None:
    assert unknown_words(example.prompt) == ()
