"""What people type: ``torsor COMMAND``. One file per command, each with `add_arguments`, `run` and `EXAMPLES`.

A command imports what it needs when it runs, so that help and completion are there at once.
"""
