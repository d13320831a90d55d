"""The command `gitsession`: everything that knows a terminal, an environment and a home directory.

It is built on the public names of the library alone. To add a command: write `commands/<name>.py` with a `command` in
it, and give it its line in `COMMANDS` of `main.py`.
"""
