"""The user's settings: one TOML file that both programs read; no Qt."""
