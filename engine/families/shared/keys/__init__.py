"""Keys of tensors: sorting and renaming them, counting blocks, joining weights with fp8 scales."""
