"""LoRA files and other files of changes to a network's weights: reading, naming, computing."""
