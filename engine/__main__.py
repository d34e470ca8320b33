"""`python -m engine`: the engine process, for the app to start."""
