"""`python -m engine`: the engine process, for the app to start."""

from engine.server import main

if __name__ == "__main__":
    main()
