"""The window: shows the state in `app` and passes the user's actions to it."""
