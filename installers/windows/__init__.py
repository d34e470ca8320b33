"""The Windows tree: its interpreter, its launchers, its installer and its checks."""
