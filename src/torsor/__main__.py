"""``python -m torsor`` is the command ``torsor``."""

import sys

from torsor.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
