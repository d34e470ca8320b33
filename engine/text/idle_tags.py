"""Tags of LoRAs in texts whose tool reads them as words: whoever writes one means a LoRA."""

from collections.abc import Iterator

from engine.api.conventions import Convention
from engine.api.prompt_rules import PromptFeature, PromptGrammar
from engine.api.sentences import Sentence, sentence
from engine.text.lora_tags import LORA_KINDS
from engine.text.tags import NetworkTag, reads_tags, strip_comments, strip_tags

_LONGEST = 80


def idle_tags(text: str, convention: Convention, *, negative: bool) -> tuple[NetworkTag, ...]:
    """Return the tags of LoRAs in a text that are words there, so that no LoRA acts."""
    if not negative and reads_tags(convention):
        return ()
    _, tags = strip_tags(text)
    return tuple(tag for tag in tags if tag.kind in LORA_KINDS and tag.name)


def idle_remarks(
    prompt: str, negative_prompt: str, convention: Convention
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield pairs of sentences about such tags of a picture's prompts: what is so, what to do."""
    hint = sentence("Add it to the list of LoRAs.")
    for text, negative in ((prompt, False), (negative_prompt, True)):
        for tag in idle_tags(_without_comments(text, convention), convention, negative=negative):
            name = tag.name[:_LONGEST]
            if negative:
                yield (
                    sentence("The LoRA {name} in the negative prompt does not act.", name=name),
                    hint,
                )
                continue
            message = sentence(
                "The LoRA {name} in the prompt does not act: the tool that is followed reads its "
                "tag as words.",
                name=name,
            )
            yield message, hint


def _without_comments(text: str, convention: Convention) -> str:
    has_comments = PromptFeature.COMMENTS in convention.prompt_features
    is_a1111 = convention.grammar is PromptGrammar.A1111
    return strip_comments(text) if has_comments and is_a1111 else text
