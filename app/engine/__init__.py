"""The engine process seen from the app: starting it, talking to it, and its end."""
