"""The application without widgets: state, commands, the engine's supervisor, the command line."""
