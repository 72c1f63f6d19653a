"""Lists what a JSON file says: `{"tools": [...], "prompts": [...], "resources": [...], "info": {...}}`."""

import json
import sys

from mcp import serve

with open(sys.argv[1], encoding="utf-8") as file:
    offers = json.load(file)
serve({f"{kind}/list": offers[kind] for kind in ["tools", "prompts", "resources"] if kind in offers}, offers.get("info"))
