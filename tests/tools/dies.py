"""Ends at once and tells its secret."""

import os
import sys

print(f"cannot log in as {os.environ['API_TOKEN']}\x1b[2J", file=sys.stderr)
sys.exit(1)
