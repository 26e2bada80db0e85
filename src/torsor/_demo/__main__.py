"""``python -m torsor._demo [folder]``: the demonstration, with its report in a folder, "demo" by default."""

import sys
from io import TextIOWrapper

from torsor._demo import run
from torsor.errors import TorsorError

if __name__ == "__main__":
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that knows no Greek gets no traceback
    try:
        raise SystemExit(run(sys.argv[1] if len(sys.argv) > 1 else "demo"))
    except TorsorError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
