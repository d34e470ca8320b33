"""The architectures of upscalers, a module each: how a file is recognised and its sizes read."""
