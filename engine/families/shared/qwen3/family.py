"""A family of files whose text encoder is a Qwen3 decoder."""

from typing import ClassVar

from engine.api.conventions import Convention
from engine.api.prompts import PromptQuestion
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.shared.flow.family import FlowFamily
from engine.text.chat_counting import count_chat_tokens
from engine.text.chat_rows import ChatTemplate, chat_convention
from engine.text.counting import TokenCount


class Qwen3Family(FlowFamily):
    """A `FlowFamily` with Qwen3, which reads each prompt in a `template`."""

    template: ClassVar[ChatTemplate]

    def prompt_rules(self, convention: Convention) -> Convention:
        """Return a convention without weights: a prompt is a question."""
        return chat_convention(convention)

    def count_tokens(
        self, text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
    ) -> TokenCount:
        """Count the tokens of Qwen3."""
        return count_chat_tokens(text, question, self.template)
