"""What people type: ``torsor COMMAND``. One file per command, each with `add_arguments` and `run`."""
