"""The list of words that ships is that of the captions the model was trained with."""

import random

from starter.captions import FILLERS, caption
from starter.scenes import random_scene
from starter.vocabulary import FILE, vocabulary, words_of


def test_the_file_holds_the_words_of_the_captions() -> None:
    assert tuple(FILE.read_text(encoding="utf-8").split()) == vocabulary()


def test_captions_use_every_word_and_no_other_but_random_letters() -> None:
    rng = random.Random(3)
    known, used = set(vocabulary()), set[str]()
    strange = 0
    for _ in range(20_000):
        words = words_of(caption(random_scene(rng), rng).text)
        used |= known & set(words)
        strange += sum(word not in known for word in words)
    assert known == used
    # Random letters are one filler in three, and so some words in a hundred.
    assert strange < 20_000 // 5
    assert set(words_of(" ".join(FILLERS))) <= known


def test_words_that_were_never_a_caption_are_not_known() -> None:
    assert not {"portrait", "woman", "cat", "city", "cyberpunk", "photo"} & set(vocabulary())
