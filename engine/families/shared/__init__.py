"""What several families share, in rooms named for what they hold. It imports no family."""
