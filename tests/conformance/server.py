#!/usr/bin/env python3
"""The conformance fixture: an MCP server over stdio, or with `--http PORT` (0: any) over streamable HTTP, that offers
what the npm conformance suite expects of a server. Python's standard library only.

    server.py [--era both|legacy|modern] [--http PORT]

Over HTTP it prints `listening on http://127.0.0.1:PORT/mcp` on stderr. At the end of stdin it stops at once."""

import argparse
import json
import os
import sys
import threading

import offers
from protocol import PARSE_ERROR, Link, Server, failure


def serve_stdio(server):
    lock, out = threading.Lock(), sys.stdout.buffer

    def send(message, about):
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with lock:
            try:
                out.write(line)
                out.flush()
            except OSError:
                os._exit(0)  # the client is gone

    link = Link(server, send)
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            send(failure(None, PARSE_ERROR, f"not JSON: {error}"), None)
            continue
        link.receive(message)
    os._exit(0)  # running calls are of no use to anyone


def main():
    parser = argparse.ArgumentParser(description="MCP conformance fixture")
    parser.add_argument("--era", choices=["both", "legacy", "modern"], default="both")
    parser.add_argument("--http", type=int, metavar="PORT")
    options = parser.parse_args()
    server = Server(offers, options.era)
    if options.http is None:
        serve_stdio(server)
    else:
        from http_front import serve_http

        serve_http(server, options.http)


if __name__ == "__main__":
    main()
