"""Streamable HTTP for the fixture: legacy sessions and 2026-07-28 POSTs on one URL, DNS-rebinding protection, and the
checks of mirrored headers. Answers are JSON unless something else is sent before them, then SSE. Not resumable."""

import base64
import binascii
import json
import queue
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from protocol import (HEADER_MISMATCH, INVALID_PARAMS, LEGACY, META, METHOD_NOT_FOUND, MISSING_CAPABILITY, MODERN, PARSE_ERROR,
                      UNSUPPORTED_VERSION, Link, failure, meta_fault, meta_of)

LOCAL = {"localhost", "127.0.0.1", "::1"}
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
BODY_LIMIT = 16 * 1024 * 1024
OPEN, CLOSE = "=?base64?", "?="


class Session:
    """A legacy session: what belongs to a request goes to that request's POST, the rest to the GET stream."""

    def __init__(self, server):
        self.id = secrets.token_hex(16)
        self.posts = {}
        self.stream = queue.Queue(maxsize=1000)
        self.link = Link(server, self.send, hint="legacy")

    def send(self, message, about):
        target = self.posts.get(about, self.stream)
        try:
            target.put_nowait(message)
        except queue.Full:
            pass


def decoded(value):
    """A mirrored header's value, which may be wrapped in base64; None where the wrapping is broken."""
    if not (value.startswith(OPEN) and value.endswith(CLOSE)):
        return value
    try:
        return base64.b64decode(value[len(OPEN):-len(CLOSE)], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def spelled(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def mirrored(headers, message, tools):
    """What is wrong with a 2026-07-28 request's headers, or None."""
    method, params = message.get("method"), message.get("params") or {}
    version = meta_of(message).get(META + "protocolVersion")
    if version is not None and headers.get("MCP-Protocol-Version") != version:
        return f"MCP-Protocol-Version is {headers.get('MCP-Protocol-Version')}, the body says {version}"
    if headers.get("Mcp-Method") != method:
        return f"Mcp-Method is {headers.get('Mcp-Method')}, the body says {method}"
    subject = params.get(NAMED_BY.get(method))
    if subject is not None and decoded((headers.get("Mcp-Name") or "").strip()) != subject:
        return f"Mcp-Name is {headers.get('Mcp-Name')}, the body says {subject}"
    if method == "tools/call" and subject in tools:
        arguments = params.get("arguments") or {}
        for name, schema in tools[subject][0]["inputSchema"].get("properties", {}).items():
            header = f"Mcp-Param-{schema['x-mcp-header']}" if "x-mcp-header" in schema else None
            if header is None or (name not in arguments and headers.get(header) is None):
                continue
            sent = headers.get(header)
            if sent is None or name not in arguments or decoded(sent.strip()) != spelled(arguments[name]):
                return f"{header} is {sent}, the body says {arguments.get(name)}"
    return None


def status_of(answer, message):
    code = answer.get("error", {}).get("code")
    if code in (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, PARSE_ERROR):
        return 400
    if code == INVALID_PARAMS and meta_fault(message):
        return 400
    return 404 if code == METHOD_NOT_FOUND else 200


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_version = "fixture"

    def log_message(self, *_):
        pass

    def _local(self):
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        origin = self.headers.get("Origin")
        return host in LOCAL and (origin is None or urlsplit(origin).hostname in LOCAL)

    def _reply(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _stream(self, first, source, last):
        """Sends `first` and all that `source` gives as SSE, up to the message that `last` accepts."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        message = first
        while True:
            if message is None:
                self._chunk(b": still here\n\n")  # finds out that the client has gone
            else:
                self._chunk(b"event: message\ndata: " + json.dumps(message, ensure_ascii=False).encode() + b"\n\n")
                if last(message):
                    break
            try:
                message = source.get(timeout=0.5)
            except queue.Empty:
                message = None
        self._chunk(b"")

    def _answer(self, link, source, message, **headers):
        first = source.get()
        is_answer = lambda sent: sent.get("id") == message["id"] and "method" not in sent
        try:
            if is_answer(first):
                self._reply(status_of(first, message) if link.hint == "modern" else 200, first, **headers)
            else:
                self._stream(first, source, is_answer)
        except OSError:
            # A client that hangs up cancels a modern request; a legacy one may come back for its answer.
            if link.hint == "modern":
                link.close()
            self.close_connection = True

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(length, BODY_LIMIT))
        if not self._local():
            return self._reply(403, failure(None, -32600, "Host or Origin is not local"))
        try:
            message = json.loads(body)
            if not isinstance(message, dict):
                raise ValueError("batches are not supported")
        except ValueError as error:
            return self._reply(400, failure(None, PARSE_ERROR, f"not JSON: {error}"))
        version = self.headers.get("MCP-Protocol-Version")
        if version == MODERN or META + "protocolVersion" in meta_of(message) or message.get("method") == "server/discover":
            return self._modern(message)
        return self._legacy(message, version)

    def _modern(self, message):
        mcp = self.server.mcp
        if "id" not in message or "method" not in message:
            return self._reply(202)
        source = queue.Queue()
        link = Link(mcp, lambda sent, about: source.put(sent), hint="modern")
        # A missing _meta has its own error, which comes first.
        wrong = None if meta_fault(message) else mirrored(self.headers, message, mcp.offers.TOOLS)
        if wrong:
            return self._reply(400, failure(message["id"], HEADER_MISMATCH, wrong))
        link.receive(message)
        self._answer(link, source, message)
        link.close()

    def _legacy(self, message, version):
        sessions, headers = self.server.sessions, {}
        if message.get("method") == "initialize" and "id" in message:
            session = Session(self.server.mcp)
            sessions[session.id] = session
            headers["Mcp_Session_Id"] = session.id
        else:
            if version is not None and version not in LEGACY:
                return self._reply(400, failure(message.get("id"), -32600, f"protocol version {version} is not supported"))
            session = self._session()
            if session is None:
                return None
        if "id" not in message or "method" not in message:
            session.link.receive(message)
            return self._reply(202)
        source = session.posts[message["id"]] = queue.Queue()
        try:
            session.link.receive(message)
            self._answer(session.link, source, message, **headers)
        finally:
            session.posts.pop(message["id"], None)
        return None

    def _session(self):
        name = self.headers.get("Mcp-Session-Id")
        session = self.server.sessions.get(name)
        if session is None:
            self._reply(404 if name else 400, failure(None, -32600, "no such session" if name else "Mcp-Session-Id is missing"))
        return session

    def do_GET(self):
        if not self._local():
            return self._reply(403)
        if "text/event-stream" not in self.headers.get("Accept", ""):
            return self._reply(406)
        session = self._session()
        if session is None:
            return None
        self.close_connection = True
        try:
            self._stream(None, session.stream, lambda sent: False)
        except OSError:
            pass
        return None

    def do_DELETE(self):
        if not self._local():
            return self._reply(403)
        session = self._session()
        if session is None:
            return None
        self.server.sessions.pop(session.id, None)
        session.link.close()
        return self._reply(204)


class Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that hangs up is nothing to report
            super().handle_error(request, client_address)


def serve_http(mcp, port):
    listener = Listener(("127.0.0.1", port), Front)
    listener.mcp, listener.sessions = mcp, {}
    print(f"listening on http://127.0.0.1:{listener.server_address[1]}/mcp", file=sys.stderr, flush=True)
    try:
        listener.serve_forever()
    except KeyboardInterrupt:
        pass
