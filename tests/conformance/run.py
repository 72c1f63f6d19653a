#!/usr/bin/env python3
"""Runs the npm conformance suite against the gateway with the fixture behind it, one summary line a run.

    run.py [GATEWAY]        the gateway's binary (default target/debug/praxiom), with praxiom.yaml and policy.yaml
    run.py --url URL        a server that already listens, such as `server.py --http 0`: every check must pass
    run.py --direct         the fixture itself, over its own HTTP

`--only TEXT` picks the runs whose title contains TEXT, `--keep DIR` keeps the suite's results. Exit 1: a check failed that
`expected-failures.yaml` does not name, or one passed that it names. Exit 2: something needed is missing."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter, deque
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = ROOT / ".peers"
START_SECONDS, RUN_SECONDS = 20, 300
# title, package, options, whether failures may be expected
RUNS = [
    ("0.1.16", "conformance-stable", [], False),
    ("0.2.0-alpha.12 at 2025-11-25", "conformance-next", ["--spec-version", "2025-11-25"], True),
    ("0.2.0-alpha.12 at 2026-07-28", "conformance-next", ["--spec-version", "2026-07-28"], True),
]


class Missing(Exception):
    pass


class Listening:
    """A server process that says on stderr where it listens."""

    def __init__(self, command):
        self.tail, self.ready, self.url = deque(maxlen=40), threading.Event(), None
        try:
            self.process = subprocess.Popen([str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                                            start_new_session=True)
        except OSError as error:
            raise Missing(f"{command[0]} does not start: {error}") from None
        threading.Thread(target=self._read, daemon=True).start()
        if not self.ready.wait(START_SECONDS) or self.url is None:
            self.stop()
            raise Missing(f"{command[0]} did not say where it listens:\n  " + "\n  ".join(self.tail))

    def _read(self):
        for line in self.process.stderr:
            self.tail.append(line.rstrip())
            found = re.search(r"listening on (http://\S+)", line)
            if found and self.url is None:
                self.url = found.group(1)
                self.ready.set()
        self.ready.set()

    def stop(self):
        for number, patience in ((signal.SIGTERM, 6), (signal.SIGKILL, 6)):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(patience)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


def checks(folder):
    """Counts by status, and the lines about what was not a success."""
    counts, lines = Counter(), []
    for file in sorted(folder.rglob("checks.json")):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        for check in json.loads(file.read_text()):
            counts[check["status"]] += 1
            if check["status"] in ("FAILURE", "WARNING"):
                lines.append(f"  {check['status'].lower()} {scenario}:{check['id']}: {check.get('errorMessage')}")
    return counts, lines


def one_run(run, url, baseline, results):
    title, package, options, expectable = run
    suite = PEERS / "node_modules" / package / "dist" / "index.js"
    node = PEERS / "bin" / "node"
    if not (suite.exists() and node.exists()):
        note = PEERS / "missing"
        raise Missing("the suite is not installed (make peers): " + (note.read_text().strip() if note.exists() else str(suite)))
    folder = results / title.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    # An empty list makes the suite count warnings too.
    clean = folder / "none.yaml"
    clean.write_text("server: []\n")
    expected = baseline if expectable and baseline else clean
    command = [node, suite, "server", "--url", url, "--suite", "all", *options, "-o", folder, "--expected-failures", expected]
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"conformance {title}: not finished after {RUN_SECONDS} s")
        return False
    output = done.stdout + done.stderr
    (folder / "output.txt").write_text(output)
    counts, lines = checks(folder)
    verdicts = {kind: re.findall(rf"^  {mark} (\S+)$", output, re.M) for kind, mark in (("expected", "~"), ("unexpected", "✗"), ("stale", "✓"))}
    good = done.returncode == 0 and counts["SUCCESS"] > 0
    scenarios = len(re.findall(r"^=== Running scenario", output, re.M))
    print(f"conformance {title}: {scenarios} scenarios, {counts['SUCCESS']} checks passed, {counts['FAILURE']} failed, "
          f"{counts['WARNING']} warned, {counts['SKIPPED']} skipped; {len(verdicts['expected'])} as expected: {'ok' if good else 'FAILED'}")
    if not good:
        for name in verdicts["stale"]:
            print(f"  passes, but is expected to fail: {name}")
        for name in verdicts["unexpected"]:
            print(f"  unexpected: {name}")
        print("\n".join(lines) if counts else output[-2000:])
    return good


def main():
    parser = argparse.ArgumentParser(description="MCP conformance suite")
    parser.add_argument("gateway", nargs="?", default=ROOT / "target" / "debug" / "praxiom", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    baseline, server = None, None
    with tempfile.TemporaryDirectory() as scratch:
        try:
            if options.direct:
                server = Listening([sys.executable, HERE / "server.py", "--http", "0"])
            elif not options.url:
                baseline = HERE / "expected-failures.yaml"
                server = Listening([options.gateway.absolute(), "serve", "--config", HERE / "praxiom.yaml",
                                    "--policy", HERE / "policy.yaml", "--http", "127.0.0.1:0"])
            url = options.url or server.url
            runs = [run for run in RUNS if options.only in run[0]]
            outcomes = [one_run(run, url, baseline, options.keep or Path(scratch)) for run in runs]
        except Missing as missing:
            print(f"conformance: needs {missing}")
            return 2
        finally:
            if server:
                server.stop()
        if server and not all(outcomes):
            print("  the server's last words:\n    " + "\n    ".join(server.tail))
    return 0 if outcomes and all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
