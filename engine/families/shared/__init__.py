"""Parts that several families share, in rooms named for what they hold. They import no family."""
