"""A small MCP server over stdio, enough to be looked at: the handshake of 2025-11-25 and lists."""

import json
import sys


def serve(lists, info=None, call=None):
    """`lists`: by method, a list of items or a function from a cursor to (items, next cursor). `call`: answers
    everything else by name; what it gives is sent as the result."""
    kinds = {method.split("/")[0]: {} for method in lists}
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        method, params = message["method"], message.get("params") or {}
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            answer["result"] = {
                "protocolVersion": "2025-11-25",
                "capabilities": kinds,
                "serverInfo": info or {"name": "fixture", "version": "1.0"},
            }
        elif method in lists:
            found = lists[method]
            items, cursor = found(params.get("cursor")) if callable(found) else (found, None)
            key = "resourceTemplates" if method == "resources/templates/list" else method.split("/")[0]
            answer["result"] = {key: items} | ({"nextCursor": cursor} if cursor else {})
        elif call:
            answer["result"] = call(method, params)
        else:
            answer["error"] = {"code": -32601, "message": f"no method {method}"}
        print(json.dumps(answer), flush=True)
