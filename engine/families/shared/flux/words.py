"""A description of double and single blocks for people."""

from engine.api.sentences import Sentence, sentence
from engine.graphs.flux import BlockSizes


def block_words(config: object) -> Sentence | None:
    """Describe a transformer of such blocks; None for the configuration of another component."""
    if not isinstance(config, BlockSizes):
        return None
    return sentence(
        "transformer {width} wide with {double} double and {single} single blocks",
        width=config.width,
        double=config.double_blocks,
        single=config.single_blocks,
    )
