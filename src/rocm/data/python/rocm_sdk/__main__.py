"""python -m rocm_sdk: the same as the command rocm-sdk."""

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())
