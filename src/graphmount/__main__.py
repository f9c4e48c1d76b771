"""`python -m graphmount` is the command line."""

import sys

from graphmount.cli import main

sys.exit(main())
