"""Keys of tensors: counting numbered blocks, and joining weights with their scales."""
