"""Parts of transformers with Flux.1's blocks."""
