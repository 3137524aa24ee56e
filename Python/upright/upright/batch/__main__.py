"""`python -m upright.batch`: transcodes inputs in chunks on this machine."""

import sys

from ._command import main, parser
from ._driver import Local

if __name__ == "__main__":
    made = parser("upright.batch", "Transcodes inputs in chunks on this machine.")
    made.add_argument("--jobs", type=int, help="how many chunks run at a time (default: the number of cores)")
    sys.exit(main(sys.argv[1:], made, lambda given: Local(given.jobs)))
