"""Texts without what is private to the user: prompts, names of pictures, the home folder's name."""

import getpass
import json
import re
from collections.abc import Iterable
from pathlib import Path

from engine.api.picture_names import slug
from engine.api.request import GenerateRequest

# Shorter prompts are words that occur anywhere.
_LEAST_PROMPT = 4
# From the beginning of a word on: tried from each of its letters, a long one takes seconds.
_PICTURE = re.compile(r"(?<![^\s/\\\"'])[^\s/\\\"']*\.(png|webp|jpe?g)\b", re.IGNORECASE)


def private_texts(
    prompt: str, negative_prompt: str, requests: Iterable[GenerateRequest | None]
) -> tuple[str, ...]:
    """Return the prompts of the form and of these requests, the longest first."""
    found = {prompt, negative_prompt}
    found |= {
        text
        for request in requests
        if request
        for text in (request.prompt, request.negative_prompt)
    }
    return tuple(sorted(found, key=len, reverse=True))


def redacted(text: str, private: Iterable[str], home: str = "", user: str = "") -> str:
    """Return a text without these private texts, the home folder and the name of the user."""
    home, user = home or str(Path.home()), user or getpass.getuser()
    for private_text in private:
        words = private_text.strip()
        if len(words) < _LEAST_PROMPT:
            continue
        # In logs a text may be that of JSON, and in names only its words.
        for form in dict.fromkeys((words, json.dumps(words)[1:-1], slug(words))):
            if form:
                text = text.replace(form, "[prompt]")
    text = _PICTURE.sub(lambda found: f"[picture].{found[1]}", text)
    for form in dict.fromkeys((home, json.dumps(home)[1:-1], home.replace("\\", "/"))):
        if form.strip("/\\"):
            text = text.replace(form, "~")
    # A short name, as "al", is a part of many words.
    return re.sub(rf"(?<!\w){re.escape(user)}(?!\w)", "[user]", text) if user else text
