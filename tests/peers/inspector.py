#!/usr/bin/env python3
"""The MCP inspector's CLI: one method on a fresh session.

    inspector.py [--era legacy|modern|auto] METHOD [INSPECTOR OPTION…] (--url URL | -- COMMAND ARG…)

Output, one line of JSON: {exit, result, error}: the inspector's exit code (5: the result has `isError`, or there is no
such tool), its result and its own error object, null where there is none. Always exits 0 once the inspector ran."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent.parent / ".peers"
LAUNCHER = PEERS / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
LIMIT_SECONDS = 60


def parsed(text):
    """The last line that is JSON, or null."""
    for line in reversed(text.splitlines()):
        try:
            return json.loads(line)
        except ValueError:
            continue
    return None


def main():
    parser = argparse.ArgumentParser(description="MCP inspector CLI")
    parser.add_argument("--era", default="legacy")
    parser.add_argument("--url")
    parser.add_argument("method")
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, more = parser.parse_known_args(sys.argv[1:cut])
    target = ["--server-url", options.url, "--transport", "http"] if options.url else ["--", *sys.argv[cut + 1:]]
    command = [PEERS / "bin" / "node", LAUNCHER, "--cli", "--format", "json", "--quiet", "--protocol-era", options.era,
               "--method", options.method, *more, *target]
    # It keeps a catalogue in its home, which is none of ours.
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home}
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment,
                              timeout=LIMIT_SECONDS)
    result, error = parsed(done.stdout), parsed(done.stderr)
    report = {"exit": done.returncode, "result": (result or {}).get("result", result), "error": (error or {}).get("error", error)}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
