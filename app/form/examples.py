"""Example prompts, for whoever does not know yet what to write."""

from collections.abc import Sequence
from random import Random

import msgspec


class StarterExample(msgspec.Struct, frozen=True):
    """A prompt for the starter; one with a postcard is also a picture to click on.

    `postcard` is the name of the picture without suffix, which was made with the `seed`.
    """

    prompt: str
    postcard: str = ""
    seed: int = 0


# Of the things that the starter was trained on (`starter/scenes.py`).
STARTER_EXAMPLES = (
    StarterExample("a red house by the sea at night, full moon", "house", 2),
    StarterExample("a yellow balloon in the desert at sunset", "balloon", 6),
    StarterExample("a white castle in the mountains by day", "castle", 3),
    StarterExample("a purple flower in a meadow by day", "flower", 2),
    StarterExample("an orange boat on the ocean at dusk", "boat", 2),
    StarterExample("a green tree in the hills at sunset", "tree", 4),
    StarterExample("a blue house in the mountains, sunset"),
    StarterExample("a red balloon by the sea by day"),
    StarterExample("a white boat, night, full moon"),
    StarterExample("a yellow flower in the desert by day"),
)
EXAMPLES = (
    "a lighthouse on a cliff in a storm, crashing waves, dramatic light, oil painting",
    "portrait of an old fisherman, weathered face, soft window light, photo, 85 mm",
    "a cosy reading corner with a sleeping cat, rain on the window, warm lamp, illustration",
    "an overgrown greenhouse at dawn, mist, shafts of light, highly detailed",
    "a paper boat on a puddle that reflects a city at night, macro photo",
    "a mountain village in autumn, wooden houses, smoke from chimneys, watercolour",
    "a steam train crossing a stone bridge, misty valley, morning sun, photo",
    "a bowl of ramen on a wooden counter, steam, shallow depth of field, food photo",
)


def another(examples: Sequence[str], present: str) -> str:
    """Return one of the examples by chance, but not the present one."""
    return Random().choice([example for example in examples if example != present])
