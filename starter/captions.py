"""Captions of a postcard in many forms: sentences, comma tags, synonyms, any order.

`caption(scene, rng)` returns the text and the attributes it states, so that the text encoder can
learn both stated and missing attributes.
"""

import random
from dataclasses import dataclass

from starter.scenes import Colour, Kind, Land, Light, Place, Scene, Time

# The first word of each list is the plainest, used at least half of the time.
KIND_WORDS: dict[Kind, tuple[str, ...]] = {
    "house": ("house", "cottage", "home", "little house"),
    "tree": ("tree", "round tree", "big tree"),
    "boat": ("boat", "sailboat", "ship", "sailing boat"),
    "balloon": ("balloon", "hot air balloon", "hot-air balloon", "air balloon"),
    "flower": ("flower", "blossom", "big flower", "daisy"),
    "castle": ("castle", "fortress", "palace", "old castle"),
}
COLOUR_WORDS: dict[Colour, tuple[str, ...]] = {
    "red": ("red", "crimson", "scarlet", "bright red"),
    "orange": ("orange", "bright orange", "orange"),
    "yellow": ("yellow", "golden", "bright yellow"),
    "green": ("green", "emerald", "bright green"),
    "blue": ("blue", "cobalt", "bright blue"),
    "purple": ("purple", "violet", "bright purple"),
    "pink": ("pink", "magenta", "bright pink"),
    "white": ("white", "white", "snow-white"),
}
# For each value: phrases that follow an object, and tags.
LAND_WORDS: dict[Land, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "hills": (
        (
            "in the hills",
            "in green hills",
            "on rolling hills",
            "on a hill",
            "in a meadow",
            "among grassy hills",
            "in the green hills",
            "in a field",
            "in the countryside",
        ),
        ("hills", "green hills", "rolling hills", "meadow", "grassy hills", "countryside"),
    ),
    "mountains": (
        (
            "in the mountains",
            "in front of snowy mountains",
            "in snowy mountains",
            "by the mountains",
            "below the peaks",
            "near a mountain",
            "with mountains behind it",
            "in the alps",
        ),
        ("mountains", "snowy mountains", "mountain landscape", "peaks", "alps", "snowy peaks"),
    ),
    "desert": (
        (
            "in the desert",
            "in a desert",
            "among sand dunes",
            "in the sandy desert",
            "on the dunes",
            "in the dunes",
            "in a hot desert",
            "in the sahara",
        ),
        ("desert", "sand dunes", "dunes", "sandy desert", "desert landscape", "sahara"),
    ),
    "forest": (
        (
            "in the forest",
            "in a forest",
            "in the woods",
            "in a dark forest",
            "by the forest",
            "near pine trees",
            "in front of a forest",
            "among the pines",
            "in a pine forest",
        ),
        ("forest", "woods", "dark forest", "pine forest", "woodland", "pines"),
    ),
    "sea": (
        (
            "by the sea",
            "at the sea",
            "by the ocean",
            "near the sea",
            "on the beach",
            "on the shore",
            "on the sea",
            "at the seaside",
            "on the coast",
            "near the ocean",
        ),
        ("sea", "ocean", "seaside", "beach", "the sea", "coast", "shore", "the ocean"),
    ),
}
TIME_WORDS: dict[Time, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "day": (
        (
            "in daylight",
            "by day",
            "during the day",
            "in the daytime",
            "at noon",
            "in the morning",
            "under a blue sky",
            "on a clear day",
            "on a sunny day",
        ),
        ("day", "daylight", "daytime", "noon", "blue sky", "morning", "midday"),
    ),
    "sunset": (
        (
            "at sunset",
            "at dusk",
            "in the evening",
            "at twilight",
            "during sunset",
            "under a sunset sky",
            "at sundown",
        ),
        ("sunset", "dusk", "evening", "twilight", "sunset sky", "sundown", "golden hour"),
    ),
    "night": (
        (
            "at night",
            "by night",
            "in the night",
            "at midnight",
            "under the night sky",
            "during the night",
            "on a dark night",
        ),
        ("night", "nighttime", "night sky", "midnight", "dark night"),
    ),
}
PLACE_WORDS: dict[Place, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "left": (
        ("on the left", "to the left", "on the left side", "at the left", "at left"),
        ("left", "left side", "on the left", "placed left"),
    ),
    "centre": (
        ("in the centre", "in the center", "in the middle", "at the centre", "at the center"),
        ("center", "centre", "middle", "in the middle", "centered", "in the center"),
    ),
    "right": (
        ("on the right", "to the right", "on the right side", "at the right", "at right"),
        ("right", "right side", "on the right", "placed right"),
    ),
}
LIGHT_WORDS: dict[Light, tuple[str, ...]] = {
    "sun": ("with the sun", "with a sun", "under the sun", "and the sun"),
    "moon": ("with the moon", "with a full moon", "under the moon", "with moon and stars"),
    "stars": ("with stars", "under the stars", "starry", "and no moon"),
    "none": ("without sun", "no sun"),
}
LEADS = (
    "a postcard of", "flat illustration of", "an illustration of", "a picture of", "postcard,",
    "a drawing of", "flat illustration,", "picture of", "a painting of", "vector art,", "draw",
)  # fmt: skip
FILLERS = (
    "beautiful", "cute", "minimal", "highly detailed", "masterpiece", "cozy", "best quality", "4k",
    "lovely", "simple", "flat", "clean lines", "peaceful", "trending", "poster", "vivid colors",
)  # fmt: skip
ATTRIBUTES = ("kind", "colour", "land", "time", "place", "light")


@dataclass(frozen=True, slots=True)
class Caption:
    """A text for a scene, and the names of the attributes it states."""

    text: str
    stated: frozenset[str]


def caption(scene: Scene, rng: random.Random) -> Caption:
    """Return a random caption; nearly all state everything but the light and, 1 in 7, the place."""
    shares = {"kind": 0.98, "colour": 0.97, "land": 0.96, "time": 0.96, "place": 0.86, "light": 0.3}
    stated = frozenset(name for name, share in shares.items() if rng.random() < share)
    text = _sentence(scene, stated, rng) if rng.random() < 0.55 else _tags(scene, stated, rng)
    if rng.random() < 0.25:
        text = f"{rng.choice(LEADS)} {text}"
    if rng.random() < 0.15:
        count = rng.randint(1, 3) if rng.random() < 0.85 else rng.randint(4, 12)
        extra = ", ".join(_filler(rng) for _ in range(count))
        text = f"{text}, {extra}" if rng.random() < 0.6 else f"{extra}, {text}"
    if rng.random() < 0.1:
        text += "."
    return Caption(text, stated)


def complete_caption(scene: Scene, rng: random.Random) -> str:
    """Return a caption that states everything but the light, for the evaluation."""
    stated = frozenset(ATTRIBUTES) - {"light"}
    return _sentence(scene, stated, rng) if rng.random() < 0.5 else _tags(scene, stated, rng)


def _sentence(scene: Scene, stated: frozenset[str], rng: random.Random) -> str:
    """Return an object phrase with phrases of place, land, time and light around it."""
    phrases: list[str] = []
    if "place" in stated:
        phrases.append(_pick(PLACE_WORDS[scene.place][0], rng))
    if "land" in stated:
        phrases.append(_pick(LAND_WORDS[scene.land][0], rng))
    if "time" in stated:
        phrases.append(_pick(TIME_WORDS[scene.time][0], rng))
    if "light" in stated:
        phrases.append(_pick(LIGHT_WORDS[scene.light], rng))
    if rng.random() < 0.5:
        rng.shuffle(phrases)
    subject = _subject(scene, stated, rng)
    at = 0 if rng.random() < 0.8 else rng.randint(0, len(phrases))
    joint = ", " if rng.random() < 0.2 else " "
    return joint.join([*phrases[:at], subject, *phrases[at:]])


def _tags(scene: Scene, stated: frozenset[str], rng: random.Random) -> str:
    """Return comma-separated tags, usually the object first, otherwise in any order."""
    tags: list[str] = []
    if "place" in stated:
        tags.append(_pick(PLACE_WORDS[scene.place][1], rng))
    if "land" in stated:
        tags.append(_pick(LAND_WORDS[scene.land][1], rng))
    if "time" in stated:
        tags.append(_pick(TIME_WORDS[scene.time][1], rng))
    if "light" in stated:
        tags.append({"none": "no sun", "stars": "stars"}.get(scene.light, scene.light))
    rng.shuffle(tags)
    subject = _subject(scene, stated, rng)
    if "place" in stated and rng.random() < 0.25:
        subject += " " + _pick(PLACE_WORDS[scene.place][0], rng)
    tags.insert(0 if rng.random() < 0.6 else rng.randint(0, len(tags)), subject)
    if "colour" in stated and rng.random() < 0.08:
        tags.append(_pick(COLOUR_WORDS[scene.colour], rng))
    return ", ".join(tags)


def _subject(scene: Scene, stated: frozenset[str], rng: random.Random) -> str:
    kind = _pick(KIND_WORDS[scene.kind], rng) if "kind" in stated else "something"
    article = rng.choice(("a ", "a ", "the ", "one ", ""))
    if "colour" not in stated:
        return article + kind
    colour = _pick(COLOUR_WORDS[scene.colour], rng)
    if rng.random() < 0.08:
        return (
            f"{article}{kind}, {colour}" if rng.random() < 0.6 else f"{article}{kind} in {colour}"
        )
    if article == "a " and colour[0] in "aeio":
        article = "an "
    return f"{article}{colour} {kind}"


def _pick(words: tuple[str, ...], rng: random.Random) -> str:
    return words[0] if rng.random() < 0.5 else rng.choice(words)


def _filler(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return rng.choice(FILLERS)
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(2, 9)))
