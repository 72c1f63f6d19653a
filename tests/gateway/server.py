"""An MCP server over stdio that does what a test wants: `server.py SPEC`, SPEC a JSON object. Standard library only.

    era            "legacy" (default) or "modern"; version: the one it knows, whatever is asked (default: what is asked)
    exit, say      ends at once with this code, after this line on stderr
    delay          seconds before it reads anything
    before, eol    raw texts written to stdout before the first answer; the end of its lines
    flood          bytes written to stderr, without a line end, before each answer to a call
    tools, after   tools (names or definitions); those of `after` from the call of `change` on
    pages, cursor  sizes of the pages of tools/list; "loop": the same cursor for ever, "empty": ends with ""
    resources      {uri: text}; templates [uriTemplate]; prompts [name]; capabilities: instead of its own
    listed         {method of a list: items}: more items, as they are
    odd            a file of lines {"name", "result" | "error"}: tools that answer with that very text
    log            a file that gets each line that is received
    stubborn       goes on after the end of its input and after TERM
    results        {method: result}: instead of its own, or {method: {"error": ...}}; mute [method]: never answered
    deaf           a tool after whose call nothing is read any more
    env            shows its arguments and environment on stderr at the start

A call does what its tool's name says (see CALLS); any other tool answers with what it got."""

import json
import os
import signal
import sys
import threading
import time

SPEC = json.loads(sys.argv[1])
MODERN = SPEC.get("era") == "modern"
LOCK = threading.Lock()
GATE = threading.Event()
CANCELLED, WAITING = {}, {}
STATE = {"changed": False, "first": True, "asked": 0}
DEFAULT = ["echo", "say", "slow", "hang", "fail", "crash", "change", "nudge", "gate", "release", "progress", "ask", "write", "big"]


def put(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    with LOCK:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(message):
    raw = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    put(raw + SPEC.get("eol", "\n"))


def reply(ident, body, kind="result"):
    """`body` is a JSON value or its very text."""
    raw = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    if MODERN and kind == "result" and '"resultType"' not in raw:
        raw = raw[:-1] + ("," if raw != "{}" else "") + '"resultType":"complete"}'
    send('{"jsonrpc":"2.0","id":%s,"%s":%s}' % (json.dumps(ident), kind, raw))


def member(line, key):
    """The very text of the first member of this name."""
    at = line.find('"%s":' % key)
    if at < 0:
        return None
    start = at + len(key) + 3
    start += len(line[start:]) - len(line[start:].lstrip())
    return line[start : json.JSONDecoder().raw_decode(line, start)[1]]


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def ask(method, params):
    STATE["asked"] += 1
    ident = "ask-%d" % STATE["asked"]
    WAITING[ident] = [threading.Event(), None]
    send({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
    WAITING[ident][0].wait(10)
    return WAITING.pop(ident)[1]


def answers_of(params, arguments):
    """Of the newer era: the client's answers, or the question as the result."""
    if "inputResponses" in params:
        return text(json.dumps({"answers": params["inputResponses"], "state": params.get("requestState")}))
    question = {"method": arguments["method"], "params": arguments.get("params", {})}
    return {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "of the server"}


def call(ident, params, line):
    name, arguments = params["name"], params.get("arguments") or {}
    token = (params.get("_meta") or {}).get("progressToken")
    cancelled = CANCELLED.setdefault(ident, threading.Event())
    if SPEC.get("flood"):
        with LOCK:
            sys.stderr.write("f" * SPEC["flood"])
            sys.stderr.flush()
    if name in ODD:
        for step in range(arguments.get("burst", 0)):
            note = {"progressToken": token, "progress": step + 1, "total": arguments["burst"], "message": "m", "x": 1}
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": note})
        reply(ident, *ODD[name])
    elif name == "say":
        reply(ident, text(arguments["say"], **arguments.get("more", {})))
    elif name == "big":
        reply(ident, text("x" * arguments["n"]))
    elif name == "slow":
        time.sleep(arguments["ms"] / 1000)
        reply(ident, text("slow"))
    elif name == "hang":
        pass
    elif name == "fail":
        reply(ident, {"code": -32050, "message": arguments.get("say", "failed"), "data": {"x": [1, None]}}, "error")
    elif name == "crash":
        sys.stderr.write("last words\n" if "say" not in arguments else arguments["say"] + "\n")
        sys.stderr.flush()
        os._exit(arguments.get("code", 3))
    elif name in ("change", "nudge"):
        STATE["changed"] = STATE["changed"] or name == "change"
        for _ in range(arguments.get("times", 1)):
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        reply(ident, text("changed"))
    elif name == "note":
        send({"jsonrpc": "2.0", "method": arguments["method"], "params": arguments.get("params", {})})
        reply(ident, text("noted"))
    elif name == "gate":
        GATE.wait(10)
        reply(ident, text("through"))
    elif name == "release":
        GATE.set()
        reply(ident, text("released"))
    elif name == "progress":
        for step in range(arguments["n"]):
            if cancelled.wait(arguments.get("pause", 0.02)):
                return
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": step}})
        reply(ident, text("done"))
    elif name == "ask":
        if MODERN:
            reply(ident, answers_of(params, arguments))
        else:
            reply(ident, text(json.dumps(ask(arguments["method"], arguments.get("params", {})))))
    elif name == "write":
        # Raw pieces to stdout: the id of this request stands for @ID@; then, if wanted, an answer in order.
        for piece in arguments["pieces"]:
            data = piece.replace("@ID@", json.dumps(ident)).encode("latin-1" if arguments.get("latin1") else "utf-8")
            put(data * arguments.get("times", 1) if piece == arguments.get("repeat") else data)
            time.sleep(arguments.get("pause", 0))
        if arguments.get("endless"):
            while True:
                put(b"e" * 65536)
        if arguments.get("answer"):
            reply(ident, text("answered"))
    else:
        raw = member(line, "arguments") or "null"
        meta = json.dumps(params.get("_meta"), separators=(",", ":"))
        shown = json.dumps(raw if not isinstance(arguments.get("say"), str) else arguments["say"], ensure_ascii=False)
        content = '"content":[{"type":"text","text":%s}]' % shown
        reply(ident, '{%s,"structuredContent":{"arguments":%s,"meta":%s,"pid":%d}}' % (content, raw, meta, os.getpid()))


def tools():
    named = SPEC.get("after") if STATE["changed"] and "after" in SPEC else SPEC.get("tools", list(ODD) or DEFAULT)
    make = lambda name: {"name": name, "description": "does " + name, "inputSchema": {"type": "object"}}
    return [make(tool) if isinstance(tool, str) else tool for tool in named]


def page(params):
    everything, cursor = tools(), params.get("cursor")
    if SPEC.get("cursor") == "loop":
        return {"tools": everything, "nextCursor": "same"}
    sizes = SPEC.get("pages", [len(everything)])
    at = int(cursor or 0)
    start = sum(sizes[:at])
    result = {"tools": everything[start : start + sizes[at]]}
    if at + 1 < len(sizes):
        result["nextCursor"] = str(at + 1)
    elif SPEC.get("cursor") == "empty":
        result["nextCursor"] = ""
    return result


def capabilities():
    if "capabilities" in SPEC:
        return SPEC["capabilities"]
    found = {"tools": {"listChanged": True}}
    if "resources" in SPEC or "templates" in SPEC:
        found["resources"] = {"subscribe": True}
    if "prompts" in SPEC:
        found.update(prompts={}, completions={})
    return found


def listed(method):
    return SPEC.get("listed", {}).get(method, [])


def answer(ident, method, params):
    cached = {"ttlMs": 0, "cacheScope": "private"} if MODERN else {}
    if method == "initialize" and not MODERN:
        version = SPEC.get("version", params["protocolVersion"])
        info = {"name": "fixture", "version": "1"}
        return {"protocolVersion": version, "capabilities": capabilities(), "serverInfo": info, "instructions": "INSTRUCTIONS"}
    if method == "server/discover" and MODERN:
        meta = {"io.modelcontextprotocol/serverInfo": {"name": "fixture", "version": "1"}}
        return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities(), "_meta": meta, **cached}
    if method == "ping" and not MODERN:
        return {}
    if method == "tools/list":
        return {**page(params), **cached}
    if method == "resources/list":
        return {"resources": [{"uri": uri, "name": uri} for uri in SPEC.get("resources", {})] + listed(method), **cached}
    if method == "resources/templates/list":
        templates = [{"uriTemplate": uri, "name": uri} for uri in SPEC.get("templates", [])]
        return {"resourceTemplates": templates + listed(method), **cached}
    if method == "resources/read":
        uri = params["uri"]
        return {"contents": [{"uri": uri, "text": SPEC.get("resources", {}).get(uri, "from a template")}], **cached}
    if method in ("resources/subscribe", "resources/unsubscribe"):
        return {}
    if method == "prompts/list":
        return {"prompts": [{"name": name} for name in SPEC.get("prompts", [])] + listed(method), **cached}
    if method == "prompts/get" and "asks" in SPEC:
        found = answers_of(params, {"method": SPEC["asks"], "params": {"message": "sure?"}})
        if "content" in found:
            return {"messages": [{"role": "user", "content": found["content"][0]}]}
        return found
    if method == "prompts/get":
        content = {"type": "text", "text": json.dumps(params.get("arguments"))}
        return {"messages": [{"role": "user", "content": content}]}
    if method == "completion/complete":
        return {"completion": {"values": [params["ref"].get("name", params["ref"].get("uri")), "v"]}}
    return None


def receive(line):
    message = json.loads(line)
    method, ident, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        if ident in WAITING:
            WAITING[ident][1] = {key: message[key] for key in ("result", "error") if key in message}
            WAITING[ident][0].set()
    elif method == "notifications/cancelled":
        CANCELLED.setdefault(params.get("requestId"), threading.Event()).set()
    elif method == "tools/call":
        threading.Thread(target=call, args=(ident, params, line), daemon=True).start()
    elif method == "subscriptions/listen" and MODERN:
        pass
    elif ident is not None:
        if STATE["first"]:
            STATE["first"] = False
            for noise in SPEC.get("before", []):
                put(noise + SPEC.get("eol", "\n"))
        result = SPEC.get("results", {}).get(method, ...)
        if result is ...:
            result = answer(ident, method, params)
        if method in SPEC.get("mute", []):
            return
        if isinstance(result, dict) and "error" in result:
            reply(ident, result["error"], "error")
        elif result is None:
            reply(ident, {"code": -32601, "message": "no such method"}, "error")
        else:
            reply(ident, result)


ODD = {}
if "odd" in SPEC:
    with open(SPEC["odd"], encoding="utf-8") as file:
        for row in file:
            kind = "error" if '"error":' in row else "result"
            ODD[json.loads(row)["name"]] = (member(row, kind), kind)


def main():
    if "say" in SPEC:
        sys.stderr.write(SPEC["say"] + "\n")
    if SPEC.get("env"):
        sys.stderr.write("argv %r env %r\n" % (sys.argv, dict(os.environ)))
    sys.stderr.flush()
    if "exit" in SPEC:
        os._exit(SPEC["exit"])
    if SPEC.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(SPEC.get("delay", 0))
    log = open(SPEC["log"], "a", encoding="utf-8", buffering=1) if "log" in SPEC else None
    for line in sys.stdin:
        if log:
            log.write(line)
        receive(line)
        if "deaf" in SPEC and '"%s"' % SPEC["deaf"] in line:
            time.sleep(600)
    while SPEC.get("stubborn"):
        time.sleep(1)
    os._exit(0)


main()
