"""Help while a prompt is written: keys that change weights, and names that complete it."""

from functools import partial

from app.form.completions import Completions, NameKind, Names, completions
from app.form.prompt_weights import WeightEdit, change_weight
from app.session import Session
from engine.api.conventions import convention_of
from ui.lora_labels import lora_name
from ui.widgets.prompt_edit import PromptEdit


def help_writing(edit: PromptEdit, session: Session) -> None:
    """Give a field the weights of the followed tool's grammar, and the names that it can use."""
    edit.weigh, edit.complete = partial(_weigh, session), partial(_complete, session)
    session.embeddings.changed.connect(edit.offer_again)


def _weigh(session: Session, text: str, start: int, end: int, step: float) -> WeightEdit | None:
    grammar = convention_of(session.generation.convention).grammar
    return change_weight(text, start, end, step, grammar)


def _complete(session: Session, before: str) -> Completions:
    suited = (lora for lora in session.loras.loras if session.lora_list.suits(lora))
    loras = tuple(dict.fromkeys(lora_name(lora) for lora in suited if not lora.problem))
    embeddings = tuple(filter(session.embedding_list.is_useful, session.loras.embeddings))
    names = Names(loras, embeddings, session.wildcards.names)
    found = completions(before, convention_of(session.generation.convention), names)
    # Those that cannot act are offered until their files were read.
    offered = (name.name for name in found.names if name.kind is NameKind.EMBEDDING)
    session.embeddings.describe(offered)
    return found
