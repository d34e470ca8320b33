"""Training of the starter model; the only part of the project that needs PyTorch."""
