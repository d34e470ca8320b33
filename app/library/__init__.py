"""The user's files: checkpoints, pictures, and the trash."""
