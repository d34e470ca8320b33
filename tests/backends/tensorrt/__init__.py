"""TensorRT: what can be shown without a card."""
