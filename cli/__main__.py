"""Lets `python -m gitsession_cli` do what the command `gitsession` does."""

from .start import main

if __name__ == "__main__":
    main()
