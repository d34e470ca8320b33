"""Control networks: their files, and their networks for a checkpoint."""
