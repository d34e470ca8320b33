"""The window: draws what `app` holds, and hands what a person does back to it."""
