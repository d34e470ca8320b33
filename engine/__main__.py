"""`python -m engine`: the engine process, which the app starts."""

from engine.server import main

if __name__ == "__main__":
    main()
