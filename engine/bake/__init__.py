"""Writing checkpoints with LoRAs merged into their weights: see `bake` and docs/loras.md."""
