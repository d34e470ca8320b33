"""The places of a prompt's parts in its written text, which has brackets, weights and tags, too."""

from collections.abc import Iterator, Sequence

from engine.text.prompt import Break, PromptPart

_BREAK = "BREAK"


def written_places(text: str, parts: Sequence[PromptPart]) -> Iterator[Sequence[int]]:
    """Yield the places of each part's characters in the text, and of its end; none for a BREAK.

    What no part has is passed over: brackets, weights, backslashes, tags, comments. Just behind
    tags and comments that begin as the words after them a place may be a few characters early.
    """
    place = 0
    for part in parts:
        if isinstance(part, Break):
            found = text.find(_BREAK, place)
            place = found + len(_BREAK) if found >= 0 else place
            yield ()
            continue
        places: list[int] = []
        for character in part.text:
            # Grammars put spaces between words themselves.
            found = place if character.isspace() else text.find(character, place)
            place = max(place, found)
            places.append(place)
            place += text[place : place + 1] == character or text[place : place + 1].isspace()
        yield [*places, place]
