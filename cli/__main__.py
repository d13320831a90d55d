"""Lets `python -m gitsession_cli` do what the command `gitsession` does."""

from .main import main

if __name__ == "__main__":
    main()
