"""The inputs of a masked context follow the prompt, wherever its arrays lie in memory."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from backends.base import Array
from engine.families.shared.prompts.prompt_embeddings import PromptEmbeddings
from engine.families.shared.t5 import masked
from tests.metadata.records import PLAIN_REQUEST


@dataclass
class NewEachTime:
    """Embeddings of a prompt that is another one at each evaluation; nothing else holds them."""

    shape: tuple[int, ...]
    # The place of the last array, where the next one lies, too, once the last one is gone.
    place: int = 0

    def at(self, evaluation: int, *, guided: bool) -> Array:
        assert not guided
        made = list[Array]()
        while not made or (id(made[-1]) != self.place and len(made) < 1000):
            made.append(np.full(self.shape, evaluation, np.float32))
        self.place = id(made[-1])
        return made[-1]


def embeddings(*shape: int) -> PromptEmbeddings:
    return cast("PromptEmbeddings", NewEachTime(shape))


@pytest.mark.parametrize("keeps_padding", [False, True])
def test_a_new_prompt_is_used_though_its_array_lies_where_the_last_one_lay(
    keeps_padding: bool,
) -> None:
    side = masked._Side(embeddings(1, 4, 8), embeddings(1, 4, 1))  # pyright: ignore[reportPrivateUsage]
    context = masked.MaskedContext((side,), keeps_padding)
    for evaluation in range(1, 5):
        inputs = context.inputs(evaluation, PLAIN_REQUEST, guided=False)
        assert inputs["context"].max() == evaluation
