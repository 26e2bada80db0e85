"""`make soak`: what takes too long for `make test`. Each part prints its figures and says what failed.

python tests/soak/run.py                    all parts
python tests/soak/run.py properties --minutes 60 --seed 7
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# Modules of this folder; each has run(options), which gives a list of failures
PARTS = ("interrupts", "memory", "calls", "machines", "edges", "priorities", "simulation", "tables", "properties")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="part", help=f"of {', '.join(PARTS)}; all if none")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of what is drawn at random; printed")
    parser.add_argument("--times", type=int, help="how often, instead of a part's own number")
    parser.add_argument("--minutes", type=float, help="how long the properties are tried, 10 if not given")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    failures = []
    for name in options.parts:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; parts: {', '.join(PARTS)}")
        print(f"--- {name}", flush=True)
        start = time.perf_counter()
        failures += [f"{name}: {failure}" for failure in importlib.import_module(name).run(options)]
        print(f"--- {name}: {time.perf_counter() - start:.0f} s", flush=True)
    print("\n".join(failures) or "nothing failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
