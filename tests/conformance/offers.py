"""What the fixture offers: the tools, resources and prompts that the conformance suite calls by name, and three of our
own for tests of a gateway in front (`test_wait`, `test_record`, `test_trigger_resource_update`)."""

import base64
import json
import struct
import zlib

from protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND_LEGACY, Refusal, ToolFailure

INSTRUCTIONS = "A fixture: every name is fixed by the conformance suite."


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _red_pixel():
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00")) + _chunk(b"IEND", b"")


def _silence():
    samples = b"\x80" * 8
    form = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    return b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + form + b"data" + struct.pack("<I", len(samples)) + samples


PNG = base64.b64encode(_red_pixel()).decode()
WAV = base64.b64encode(_silence()).decode()


def text(value):
    return {"type": "text", "text": value}


def image():
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def embedded(uri, mime, body):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": body}}


def elicit(message, properties, required=None):
    required = list(properties) if required is None else required
    return ("elicitation/create", {"message": message, "requestedSchema": {"type": "object", "properties": properties, "required": required}})


def sample(prompt, tokens=100):
    return ("sampling/createMessage", {"messages": [{"role": "user", "content": text(prompt)}], "maxTokens": tokens})


ROOTS = ("roots/list", {})
STRING = {"type": "string"}

# --- tools: name -> (description, input schema, function(call, arguments) -> content)

TOOLS = {}


def tool(name, description, properties=None, required=None, schema=None):
    schema = schema or {"type": "object", "properties": properties or {}, **({"required": required} if required else {})}

    def register(function):
        TOOLS[name] = ({"name": name, "description": description, "inputSchema": schema}, function)
        return function

    return register


@tool("test_simple_text", "Returns simple text")
def _(call, arguments):
    return [text("This is a simple text response for testing.")]


@tool("test_image_content", "Returns an image")
def _(call, arguments):
    return [image()]


@tool("test_audio_content", "Returns audio")
def _(call, arguments):
    return [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]


@tool("test_embedded_resource", "Returns an embedded resource")
def _(call, arguments):
    return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@tool("test_multiple_content_types", "Returns text, an image and a resource")
def _(call, arguments):
    body = '{"test":"data","value":123}'
    return [text("Multiple content types test:"), image(), embedded("test://mixed-content-resource", "application/json", body)]


@tool("test_tool_with_logging", "Sends three log messages")
def _(call, arguments):
    call.log("info", "Tool execution started")
    call.sleep(0.05)
    call.log("info", "Tool processing data")
    call.sleep(0.05)
    call.log("info", "Tool execution completed")
    return [text("Tool with logging executed successfully")]


@tool("test_logging_tool", "Logs at info, if the request asked for logs")
def _(call, arguments):
    call.log("info", "test_logging_tool ran")
    return [text("Logged where a log level was set")]


@tool("test_error_handling", "Always fails")
def _(call, arguments):
    raise ToolFailure("This tool intentionally returns an error for testing")


@tool("test_tool_with_progress", "Reports progress 0, 50, 100 of 100")
def _(call, arguments):
    for done in (0, 50, 100):
        call.progress(done, 100, f"Completed step {done} of 100")
        call.sleep(0.05)
    return [text(str(call.meta.get("progressToken")))]


@tool("test_sampling", "Asks the client's model", {"prompt": STRING}, ["prompt"])
def _(call, arguments):
    answer = call.ask({"sampling": sample(arguments.get("prompt", ""))})["sampling"]
    return [text(f"LLM response: {said(answer)}")]


@tool("test_elicitation", "Asks the user for a name and an address", {"message": STRING}, ["message"])
def _(call, arguments):
    fields = {"username": {"type": "string", "description": "User's response"},
              "email": {"type": "string", "description": "User's email address"}}
    answer = call.ask({"user": elicit(arguments.get("message", ""), fields)})["user"]
    return [text(f"User response: action={answer.get('action')}, content={json.dumps(answer.get('content'))}")]


@tool("test_elicitation_sep1034_defaults", "Asks with a default for each primitive type")
def _(call, arguments):
    fields = {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "description": "User status", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    }
    return completed(call, elicit("Please review and update the form fields with defaults", fields, []))


@tool("test_elicitation_sep1330_enums", "Asks with each form of enum")
def _(call, arguments):
    titled = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in ((1, "First"), (2, "Second"), (3, "Third"))]
    options = ["option1", "option2", "option3"]
    names = ["Option One", "Option Two", "Option Three"]
    fields = {
        "untitledSingle": {"type": "string", "description": "Select one option", "enum": options},
        "titledSingle": {"type": "string", "description": "Select one option with titles", "oneOf": titled},
        "legacyEnum": {"type": "string", "description": "Select one option (legacy)", "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        "untitledMulti": {"type": "array", "description": "Select several", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "description": "Select several with titles", "minItems": 1, "maxItems": 3, "items": {"anyOf": titled}},
    }
    return completed(call, elicit("Please select options from the enum fields", fields, []))


@tool("test_streaming_elicitation", "Reports progress, then asks the user")
def _(call, arguments):
    call.require("elicitation")
    call.progress(1, 2)
    return completed(call, elicit("Please confirm", {"ok": {"type": "boolean"}}))


@tool("test_missing_capability", "Needs the client's sampling")
def _(call, arguments):
    call.require("sampling")
    return [text("The client declared sampling")]


@tool("test_reconnection", "Takes half a second")
def _(call, arguments):
    call.sleep(0.5)
    return [text("Reconnection test completed")]


@tool("test_x_mcp_header", "Mirrors a parameter into an HTTP header",
      {"region": {"type": "string", "description": "Where to run", "x-mcp-header": "Region"}, "query": STRING}, ["region"])
def _(call, arguments):
    return [text(f"region={arguments.get('region')}")]


@tool("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", schema={
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": STRING, "city": STRING}}},
    "properties": {"name": STRING, "address": {"$ref": "#/$defs/address"},
                   "contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": STRING, "email": STRING},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
})
def _(call, arguments):
    return [text(f"JSON Schema 2020-12 tool called with: {json.dumps(arguments)}")]


ASK_NAME = elicit("What is your name?", {"name": STRING})
ASK_OK = elicit("Please confirm", {"ok": {"type": "boolean"}})


@tool("test_input_required_result_elicitation", "Asks for a name")
def _(call, arguments):
    answer = call.ask({"user_name": ASK_NAME})["user_name"]
    return [text(f"Hello, {(answer.get('content') or {}).get('name')}!")]


@tool("test_input_required_result_sampling", "Asks the model for a capital")
def _(call, arguments):
    return [text(said(call.ask({"capital_question": sample("What is the capital of France?")})["capital_question"]))]


@tool("test_input_required_result_list_roots", "Asks for the roots")
def _(call, arguments):
    roots = call.ask({"client_roots": ROOTS})["client_roots"].get("roots", [])
    return [text("Roots: " + ", ".join(str(root.get("uri")) for root in roots))]


@tool("test_input_required_result_request_state", "Asks, and keeps state with the client")
def _(call, arguments):
    answer = call.ask({"confirm": ASK_OK}, sealed=True)["confirm"]
    return [text(f"state-ok: {json.dumps(answer.get('content'))}")]


@tool("test_input_required_result_tampered_state", "Asks, and refuses altered state")
def _(call, arguments):
    call.ask({"confirm": ASK_OK}, sealed=True)
    return [text("The state was intact")]


@tool("test_input_required_result_multiple_inputs", "Asks user, model and roots at once")
def _(call, arguments):
    asked = {"user_name": ASK_NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
    answers = call.ask(asked, sealed=True)
    name, roots = (answers["user_name"].get("content") or {}).get("name"), answers["client_roots"].get("roots", [])
    return [text(f"{said(answers['greeting'])} {name}, {len(roots)} roots")]


@tool("test_input_required_result_multi_round", "Asks twice")
def _(call, arguments):
    first = call.ask({"step1": elicit("Step 1: What is your name?", {"name": STRING})}, sealed=True)["step1"]
    second = call.ask({"step2": elicit("Step 2: What is your favorite color?", {"color": STRING})}, sealed=True)["step2"]
    return [text(f"{json.dumps(first.get('content'))} {json.dumps(second.get('content'))}")]


@tool("test_input_required_result_capabilities", "Asks what the client can answer")
def _(call, arguments):
    asked = {"user_name": ASK_NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
    able = {"user_name": "elicitation", "greeting": "sampling", "client_roots": "roots"}
    answers = call.ask({key: request for key, request in asked.items() if call.capable(able[key])})
    return [text("Answered: " + ", ".join(sorted(answers)))]


@tool("test_trigger_tool_change", "Adds a tool, or takes it away again")
def _(call, arguments):
    _toggle(TOOLS, "test_dynamic_tool", ({"name": "test_dynamic_tool", "description": "Comes and goes", "inputSchema": {"type": "object"}},
                                         lambda call, arguments: [text("here")]))
    call.server.list_changed("tools")
    return [text("tools changed")]


@tool("test_trigger_prompt_change", "Adds a prompt, or takes it away again")
def _(call, arguments):
    _toggle(PROMPTS, "test_dynamic_prompt", ({"name": "test_dynamic_prompt", "description": "Comes and goes"},
                                             lambda call, arguments: [user(text("here"))]))
    call.server.list_changed("prompts")
    return [text("prompts changed")]


@tool("test_trigger_resource_update", "Says that a resource was updated", {"uri": STRING}, ["uri"])
def _(call, arguments):
    call.server.resource_updated(arguments.get("uri"))
    return [text("updated")]


@tool("test_wait", "Reports progress every 50 ms until its time is over", {"ms": {"type": "integer"}}, ["ms"])
def _(call, arguments):
    steps = max(1, int(arguments.get("ms", 0)) // 50)
    for step in range(steps):
        call.progress(step + 1, steps)
        call.sleep(0.05)
    return [text("waited")]


CALLED = {}


@tool("test_record", "How often each tool was called, and how many calls were cancelled")
def _(call, arguments):
    return [text(json.dumps({"called": CALLED, "cancelled": call.server.cancellations}, sort_keys=True))]


def _toggle(table, name, entry):
    if table.pop(name, None) is None:
        table[name] = entry


def said(answer):
    content = answer.get("content")
    blocks = content if isinstance(content, list) else [content or {}]
    return " ".join(str(block.get("text")) for block in blocks)


def completed(call, request):
    answer = call.ask({"form": request})["form"]
    return [text(f"Elicitation completed: action={answer.get('action')}, content={json.dumps(answer.get('content', {}))}")]


# --- prompts: name -> (definition, function(call, arguments) -> messages)


def user(content):
    return {"role": "user", "content": content}


def _argument(name, description):
    return {"name": name, "description": description, "required": True}


def _input_prompt(call, arguments):
    asked = elicit("What context should the prompt use?", {"context": STRING})
    answer = call.ask({"user_context": asked})["user_context"]
    return [user(text(f"Context: {(answer.get('content') or {}).get('context')}"))]


PROMPTS = {
    "test_simple_prompt": (
        {"name": "test_simple_prompt", "description": "A prompt without arguments"},
        lambda call, arguments: [user(text("This is a simple prompt for testing."))]),
    "test_prompt_with_arguments": (
        {"name": "test_prompt_with_arguments", "description": "A prompt with two arguments",
         "arguments": [_argument("arg1", "First test argument"), _argument("arg2", "Second test argument")]},
        lambda call, arguments: [user(text(f"Prompt with arguments: arg1='{arguments.get('arg1')}', arg2='{arguments.get('arg2')}'"))]),
    "test_prompt_with_embedded_resource": (
        {"name": "test_prompt_with_embedded_resource", "description": "A prompt that embeds a resource",
         "arguments": [_argument("resourceUri", "URI of the resource to embed")]},
        lambda call, arguments: [user(embedded(arguments.get("resourceUri", ""), "text/plain", "Embedded resource content for testing.")),
                                 user(text("Please process the embedded resource above."))]),
    "test_prompt_with_image": (
        {"name": "test_prompt_with_image", "description": "A prompt with an image"},
        lambda call, arguments: [user(image()), user(text("Please analyze the image above."))]),
    "test_input_required_result_prompt": (
        {"name": "test_input_required_result_prompt", "description": "A prompt that asks the user first"}, _input_prompt),
}

# --- resources

RESOURCES = [
    {"uri": "test://static-text", "name": "Static text", "description": "A static text resource", "mimeType": "text/plain"},
    {"uri": "test://static-binary", "name": "Static binary", "description": "A static image", "mimeType": "image/png"},
    {"uri": "test://watched-resource", "name": "Watched", "description": "A resource to subscribe to", "mimeType": "text/plain"},
]
TEMPLATES = [{"uriTemplate": "test://template/{id}/data", "name": "Template", "description": "A resource template", "mimeType": "application/json"}]


def read_resource(call):
    uri = call.params.get("uri")
    if uri == "test://static-binary":
        return {"contents": [{"uri": uri, "mimeType": "image/png", "blob": PNG}]}
    texts = {"test://static-text": "This is the content of the static text resource.", "test://watched-resource": "Watched resource content."}
    if uri in texts:
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": texts[uri]}]}
    head, tail = "test://template/", "/data"
    if isinstance(uri, str) and uri.startswith(head) and uri.endswith(tail) and len(uri) > len(head + tail):
        number = uri[len(head):-len(tail)]
        body = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": json.dumps(body, separators=(",", ":"))}]}
    raise Refusal(INVALID_PARAMS if call.modern else RESOURCE_NOT_FOUND_LEGACY, "Resource not found", {"uri": uri})


def call_tool(call):
    name, arguments = call.params.get("name"), call.params.get("arguments", {})
    if name not in TOOLS:
        raise Refusal(INVALID_PARAMS, f"Unknown tool: {name}")
    if not isinstance(arguments, dict):
        raise Refusal(INVALID_PARAMS, "arguments must be an object")
    CALLED[name] = CALLED.get(name, 0) + 1
    try:
        return {"content": TOOLS[name][1](call, arguments)}
    except ToolFailure as failed:
        return {"content": [text(str(failed))], "isError": True}


def get_prompt(call):
    name = call.params.get("name")
    if name not in PROMPTS:
        raise Refusal(INVALID_PARAMS, f"Unknown prompt: {name}")
    try:
        return {"messages": PROMPTS[name][1](call, call.params.get("arguments") or {})}
    except ToolFailure as failed:
        raise Refusal(INVALID_PARAMS, str(failed)) from None


def complete(call):
    start = (call.params.get("argument") or {}).get("value", "")
    values = [word for word in ("paris", "park", "party", "test", "testing") if word.startswith(start)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def capabilities(modern):
    lists = {"listChanged": True}
    return {"tools": lists, "prompts": lists, "resources": {"subscribe": True, "listChanged": True}, "completions": {}, "logging": {}}


methods = {
    "tools/list": lambda call: {"tools": [entry[0] for entry in TOOLS.values()]},
    "tools/call": call_tool,
    "prompts/list": lambda call: {"prompts": [entry[0] for entry in PROMPTS.values()]},
    "prompts/get": get_prompt,
    "resources/list": lambda call: {"resources": RESOURCES},
    "resources/templates/list": lambda call: {"resourceTemplates": TEMPLATES},
    "resources/read": read_resource,
    "completion/complete": complete,
}
