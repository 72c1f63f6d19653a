"""Both eras of MCP on the server's side: 2025-11-25 and older (a handshake, then a session) and 2026-07-28 (each request
speaks for itself). Knows nothing of what is offered (`offers.py`) nor of how bytes travel (`server.py`, `http_front.py`)."""

import base64
import hashlib
import hmac
import json
import queue
import secrets
import threading

MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
META = "io.modelcontextprotocol/"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
CAPABILITY_FOR = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
CACHEABLE = {"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}
# What 2026-07-28 took away; the rest of the methods is the same in both eras.
LEGACY_ONLY = {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
# May wait for the client, so it must not hold up the reader.
SLOW = {"tools/call", "prompts/get", "resources/read"}
LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION = -32020, -32021, -32022
RESOURCE_NOT_FOUND_LEGACY = -32002


class Refusal(Exception):
    """A JSON-RPC error."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}


class ToolFailure(Exception):
    """A result with `isError`."""


class Cancelled(Exception):
    """The client wants no answer any more."""


class InputRequired(Exception):
    """A 2026-07-28 answer that asks the client for more."""

    def __init__(self, requests, state):
        super().__init__("input required")
        self.result = {"resultType": "input_required", "inputRequests": requests, **({"requestState": state} if state else {})}


def meta_of(message):
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def meta_fault(message):
    """What is wrong with a 2026-07-28 request's `_meta`, or None. `clientInfo` is only a SHOULD."""
    meta = meta_of(message)
    for key, kind in (("protocolVersion", str), ("clientCapabilities", dict)):
        if not isinstance(meta.get(META + key), kind):
            return f"_meta has no {META}{key}"
    return None


class Sealer:
    """`requestState` comes back from a client, so it carries a MAC."""

    def __init__(self):
        self.key = secrets.token_bytes(32)

    def seal(self, value):
        body = base64.urlsafe_b64encode(json.dumps({**value, "nonce": secrets.token_hex(4)}).encode()).decode()
        return f"{body}.{self._mac(body)}"

    def open(self, text):
        body, _, mac = text.partition(".") if isinstance(text, str) else ("", "", "")
        if not hmac.compare_digest(mac.encode(), self._mac(body).encode()):
            raise Refusal(INVALID_PARAMS, "requestState failed its integrity check")
        return json.loads(base64.urlsafe_b64decode(body))

    def _mac(self, body):
        return hmac.new(self.key, body.encode(), hashlib.sha256).hexdigest()


class Link:
    """One client: a stdio pipe, a legacy HTTP session, or a single 2026-07-28 POST."""

    def __init__(self, server, send, hint=None):
        self.server, self.send = server, send
        self.hint = hint  # "modern" where HTTP headers have said so
        self.capabilities = None  # a legacy client's, from its initialize
        self.version = None
        self.ready = False
        self.level = "debug"
        self.watched = set()
        self.running = {}
        self.waiting = {}
        self.next_id = 0

    def modern(self, message):
        method = message.get("method")
        if self.server.era != "both":
            return self.server.era == "modern"
        if method == "server/discover" or META + "protocolVersion" in meta_of(message):
            return True
        if self.hint:
            return self.hint == "modern"
        return self.version is None and method not in ("initialize", "ping")

    def receive(self, message):
        """Takes one parsed message; answers go out through `send`."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.send(failure(None, INVALID_REQUEST, "not a JSON-RPC 2.0 message"), None)
        elif "method" not in message:
            waiting = self.waiting.pop(message.get("id"), None)
            if waiting:
                waiting.put(message)
        elif "id" not in message:
            self._notified(message)
        else:
            call = Call(self, message, self.modern(message))
            self.running[message["id"]] = call
            if message["method"] in SLOW:
                threading.Thread(target=call.run, daemon=True).start()
            else:
                call.run()

    def _notified(self, message):
        method, params = message["method"], message.get("params") or {}
        if method == "notifications/initialized":
            self.ready = True
        elif method == "notifications/cancelled":
            call = self.running.get(params.get("requestId"))
            if call:
                call.cancel()

    def close(self):
        for call in list(self.running.values()):
            call.cancel()
        self.server.links.discard(self)

    def ask(self, method, params, call):
        """A legacy server-to-client request, made while `call` runs."""
        self.next_id += 1
        asked, answers = f"ask-{self.next_id}", queue.Queue()
        self.waiting[asked] = answers
        self.send({"jsonrpc": "2.0", "id": asked, "method": method, "params": params}, call.id)
        for _ in range(600):
            try:
                answer = answers.get(timeout=0.1)
            except queue.Empty:
                if call.cancelled.is_set():
                    raise Cancelled() from None
                continue
            if "error" in answer:
                raise ToolFailure(f"{method} failed: {answer['error'].get('message')}")
            return answer.get("result")
        raise ToolFailure(f"{method} was not answered within 60 s")


class Call:
    """One request, and what its handler may do."""

    def __init__(self, link, message, modern):
        self.link, self.server, self.modern = link, link.server, modern
        self.message, self.id, self.method = message, message["id"], message["method"]
        self.params = message.get("params") if isinstance(message.get("params"), dict) else {}
        self.meta = meta_of(message)
        self.cancelled = threading.Event()
        self.answers = {}

    def run(self):
        try:
            result = self.server.answer(self)
            if result is None:
                return  # a subscription: it stays open
            answer = {"jsonrpc": "2.0", "id": self.id, "result": self._dress(result)}
        except Refusal as refusal:
            answer = {"jsonrpc": "2.0", "id": self.id, "error": refusal.error}
        except InputRequired as required:
            answer = {"jsonrpc": "2.0", "id": self.id, "result": self._dress(required.result)}
        except Cancelled:
            self.link.running.pop(self.id, None)
            return
        except Exception as error:  # a bug here must show as a failed check, not as a hang
            answer = failure(self.id, -32603, f"{type(error).__name__}: {error}")
        self.link.running.pop(self.id, None)
        if not self.cancelled.is_set():
            self.link.send(answer, self.id)

    def _dress(self, result):
        if not self.modern:
            return result
        result = {"resultType": "complete", **result}
        if self.method in CACHEABLE and result["resultType"] == "complete":
            result = {"ttlMs": 0, "cacheScope": "private", **result}
        result["_meta"] = {META + "serverInfo": self.server.info, **result.get("_meta", {})}
        return result

    def cancel(self):
        if not self.cancelled.is_set():
            self.cancelled.set()
            self.server.cancellations += self.method == "tools/call"
        self.server.subscriptions.pop((self.link, self.id), None)

    def sleep(self, seconds):
        if self.cancelled.wait(seconds):
            raise Cancelled()

    def notify(self, method, params):
        self.link.send({"jsonrpc": "2.0", "method": method, "params": params}, self.id)

    def log(self, level, data):
        wanted = self.meta.get(META + "logLevel") if self.modern else self.link.level
        if wanted in LEVELS and LEVELS.index(level) >= LEVELS.index(wanted):
            self.notify("notifications/message", {"level": level, "logger": "fixture", "data": data})

    def progress(self, done, total, message=None):
        token = self.meta.get("progressToken")
        if token is not None:
            more = {} if message is None else {"message": message}
            self.notify("notifications/progress", {"progressToken": token, "progress": done, "total": total, **more})

    def capable(self, name):
        declared = self.meta.get(META + "clientCapabilities", {}) if self.modern else self.link.capabilities or {}
        return name in declared

    def require(self, name):
        if self.capable(name):
            return
        if self.modern:
            data = {"requiredCapabilities": {name: {}}}
            raise Refusal(MISSING_CAPABILITY, f"this needs the client capability {name}", data)
        raise ToolFailure(f"the client has no {name} capability")

    def ask(self, requests, sealed=False):
        """Answers by key to `{key: (method, params)}`: by asking a legacy client, by answering `input_required` to a
        modern one. What a modern client has answered in earlier rounds travels in the sealed `requestState`."""
        for method, _ in requests.values():
            self.require(CAPABILITY_FOR[method])
        if not self.modern:
            return {key: self.link.ask(method, params, self) for key, (method, params) in requests.items()}
        missing = {key: {"method": m, "params": p} for key, (m, p) in requests.items() if key not in self.answers}
        if missing:
            state = {"for": self.subject(), "answers": self.answers}
            raise InputRequired(missing, self.server.sealer.seal(state) if sealed or self.answers else None)
        return {key: self.answers[key] for key in requests}

    def read_input(self):
        """Takes `inputResponses` and `requestState` of a later round."""
        responses = self.params.get("inputResponses", {})
        if not isinstance(responses, dict) or not all(isinstance(value, dict) for value in responses.values()):
            raise Refusal(INVALID_PARAMS, "inputResponses must be an object of objects")
        if "requestState" in self.params:
            state = self.server.sealer.open(self.params["requestState"])
            if state["for"] != self.subject():
                raise Refusal(INVALID_PARAMS, "requestState belongs to another request")
            self.answers = {**state["answers"], **responses}
        else:
            # Nothing says which round this is: keys that nobody asked for must not be carried along.
            self.answers = dict(responses)

    def subject(self):
        return [self.method, self.params.get("name") or self.params.get("uri")]


def failure(request_id, code, message, data=None):
    more = {} if data is None else {"data": data}
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, **more}}


class Server:
    """What all links share. `offers` has `methods`: name -> function(call), and `capabilities`."""

    def __init__(self, offers, era="both"):
        self.offers, self.era = offers, era
        self.info = {"name": "conformance-fixture", "version": "1.0.0"}
        self.sealer = Sealer()
        self.links = set()
        self.subscriptions = {}
        self.cancellations = 0

    def answer(self, call):
        method = call.method
        if call.modern:
            fault = meta_fault(call.message)
            if fault:
                raise Refusal(INVALID_PARAMS, fault)
            version = call.meta[META + "protocolVersion"]
            if version != MODERN:
                data = {"supported": [MODERN], "requested": version}
                raise Refusal(UNSUPPORTED_VERSION, f"protocol version {version} is not supported", data)
            if method == "server/discover":
                capabilities = self.offers.capabilities(modern=True)
                return {"supportedVersions": [MODERN], "capabilities": capabilities, "instructions": self.offers.INSTRUCTIONS}
            if method == "subscriptions/listen":
                return self._listen(call)
            if method in LEGACY_ONLY:
                raise Refusal(METHOD_NOT_FOUND, f"{method} is not part of {MODERN}")
        elif method in LEGACY_ONLY:
            return self._legacy(call)
        handler = self.offers.methods.get(method)
        if not handler:
            raise Refusal(METHOD_NOT_FOUND, f"unknown method {method}")
        if method in SLOW and call.modern:
            call.read_input()
        return handler(call)

    def _legacy(self, call):
        link, params = call.link, call.params
        if call.method == "initialize":
            asked = params.get("protocolVersion")
            link.version = asked if asked in LEGACY else LEGACY[0]
            link.capabilities = params.get("capabilities") or {}
            self.links.add(link)
            capabilities = self.offers.capabilities(modern=False)
            return {"protocolVersion": link.version, "capabilities": capabilities, "serverInfo": self.info,
                    "instructions": self.offers.INSTRUCTIONS}
        if call.method == "logging/setLevel":
            if params.get("level") not in LEVELS:
                raise Refusal(INVALID_PARAMS, "unknown level")
            link.level = params["level"]
        elif call.method == "resources/subscribe":
            link.watched.add(params.get("uri"))
        elif call.method == "resources/unsubscribe":
            link.watched.discard(params.get("uri"))
        return {}

    def _listen(self, call):
        wanted = call.params.get("notifications")
        if not isinstance(wanted, dict):
            raise Refusal(INVALID_PARAMS, "notifications must be an object")
        known = {key: value for key, value in wanted.items() if value and (key in LISTS.values() or key == "resourceSubscriptions")}
        self.subscriptions[(call.link, call.id)] = known
        meta = {META + "subscriptionId": call.id}
        call.notify("notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": known})

    def list_changed(self, kind):
        method = f"notifications/{kind}/list_changed"
        for link in list(self.links):
            if link.ready:
                link.send({"jsonrpc": "2.0", "method": method}, None)
        self._tell_subscribers(method, {}, lambda known: LISTS[kind] in known)

    def resource_updated(self, uri):
        method = "notifications/resources/updated"
        for link in list(self.links):
            if uri in link.watched:
                link.send({"jsonrpc": "2.0", "method": method, "params": {"uri": uri}}, None)
        self._tell_subscribers(method, {"uri": uri}, lambda known: uri in known.get("resourceSubscriptions", []))

    def _tell_subscribers(self, method, params, wanted):
        for (link, listen), known in list(self.subscriptions.items()):
            if wanted(known):
                meta = {META + "subscriptionId": listen}
                link.send({"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": meta}}, listen)
