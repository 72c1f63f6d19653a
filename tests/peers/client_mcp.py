"""The official Python SDK as a client: runs a plan against a server and prints what came back, as one line of JSON.

    client_mcp.py [--mode legacy|auto|2026-07-28] [--offer elicitation,sampling,roots] PLAN (--url URL | -- COMMAND ARG…)

PLAN is a JSON array of steps. A step gives its result, or `{"error": {code, message, data}}`:

    {"do": "tools" | "resources" | "templates" | "prompts"}               the names or URIs
    {"do": "call", "name": N, "arguments": {…}, "cancel_after": SECONDS}  {isError, content, structured, meta, progress}
    {"do": "read", "uri": U}     {"do": "prompt", "name": N, "arguments": {…}}
    {"do": "complete", "prompt": N, "argument": A, "value": V}
    {"do": "level", "level": L}  {"do": "subscribe", "uri": U}            2025-11-25 and older
    {"do": "listen", "tools": true, "uri": U, "during": STEP}             2026-07-28: the event kinds that arrived
    {"do": "wait", "seconds": S}

Output: {protocol, server, steps, asked, notifications, logs}: `asked` is what the server asked of the client, in order.
Exit 1 with {"failed": …} where the session itself did not work."""

import argparse
import json
import sys
import warnings

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

LIMIT_SECONDS = 60
# Half of what a gateway must carry is deprecated.
warnings.simplefilter("ignore", MCPDeprecationWarning)


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Driver:
    def __init__(self, offer):
        self.offer, self.asked, self.notifications, self.logs = offer, [], [], []

    async def elicit(self, context, params):
        self.asked.append({"elicitation": params.message})
        fields = getattr(params, "requested_schema", {}).get("properties", {})
        samples = {"string": "Alice", "integer": 7, "number": 7.5, "boolean": True}
        content = {name: samples.get(schema.get("type"), "Alice") for name, schema in fields.items()}
        return types.ElicitResult(action="accept", content=content)

    async def sample(self, context, params):
        self.asked.append({"sampling": len(params.messages)})
        return types.CreateMessageResult(role="assistant", model="none", content=types.TextContent(type="text", text="sampled"))

    async def roots(self, context):
        self.asked.append({"roots": True})
        return types.ListRootsResult(roots=[types.Root(uri="file:///elsewhere")])

    async def log(self, params):
        self.logs.append([params.level, params.data])

    async def message(self, message):
        method = getattr(message, "method", None) or f"{type(message).__name__}: {message}"
        if method not in ("notifications/progress", "notifications/message"):  # their callbacks have them
            self.notifications.append(method)

    def client(self, server, mode):
        return Client(server, mode=mode, cache=None, message_handler=self.message, logging_callback=self.log,
                      elicitation_callback=self.elicit if "elicitation" in self.offer else None,
                      sampling_callback=self.sample if "sampling" in self.offer else None,
                      list_roots_callback=self.roots if "roots" in self.offer else None)

    async def step(self, client, step):
        try:
            return await getattr(self, f"do_{step['do']}")(client, step)
        except MCPError as error:
            return {"error": {"code": error.error.code, "message": error.error.message, "data": error.error.data}}

    async def do_tools(self, client, step):
        return [tool.name for tool in (await client.list_tools()).tools]

    async def do_resources(self, client, step):
        return [str(resource.uri) for resource in (await client.list_resources()).resources]

    async def do_templates(self, client, step):
        return [template.uri_template for template in (await client.list_resource_templates()).resource_templates]

    async def do_prompts(self, client, step):
        return [prompt.name for prompt in (await client.list_prompts()).prompts]

    async def do_call(self, client, step):
        progress = []

        async def seen(done, total, message):
            progress.append([done, total])

        with anyio.move_on_after(step.get("cancel_after", LIMIT_SECONDS)) as scope:
            result = await client.call_tool(step["name"], step.get("arguments", {}), progress_callback=seen)
        if scope.cancelled_caught:
            return {"cancelled": True, "progress": progress}
        content = [plain(block) for block in result.content]
        return {"isError": bool(result.is_error), "content": content, "structured": result.structured_content,
                "meta": result.meta, "progress": progress}

    async def do_read(self, client, step):
        return [plain(part) for part in (await client.read_resource(step["uri"])).contents]

    async def do_prompt(self, client, step):
        return [plain(message) for message in (await client.get_prompt(step["name"], step.get("arguments"))).messages]

    async def do_complete(self, client, step):
        reference = types.PromptReference(type="ref/prompt", name=step["prompt"])
        return (await client.complete(reference, {"name": step["argument"], "value": step["value"]})).completion.values

    async def do_level(self, client, step):
        return plain(await client.set_logging_level(step["level"]))

    async def do_subscribe(self, client, step):
        return plain(await client.subscribe_resource(step["uri"]))

    async def do_listen(self, client, step):
        events = []
        wanted = [step["uri"]] if "uri" in step else []
        async with client.listen(tools_list_changed=bool(step.get("tools")), prompts_list_changed=bool(step.get("prompts")),
                                 resource_subscriptions=wanted) as subscription:
            during = await self.step(client, step["during"])
            with anyio.move_on_after(1):
                async for event in subscription:
                    events.append(type(event).__name__)
                    break
        return {"events": events, "during": during}

    async def do_wait(self, client, step):
        await anyio.sleep(step["seconds"])


async def run(options):
    driver = Driver(options.offer.split(","))
    server = options.url or StdioServerParameters(command=options.command[0], args=options.command[1:])
    with anyio.fail_after(LIMIT_SECONDS):
        async with driver.client(server, options.mode) as client:
            steps = [await driver.step(client, step) for step in json.loads(options.plan)]
            info = plain(client.server_info) if client.server_info else None
            return {"protocol": client.protocol_version, "server": info, "steps": steps, "asked": driver.asked,
                    "notifications": driver.notifications, "logs": driver.logs}


def innermost(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description="official Python MCP client")
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--offer", default="elicitation,sampling")
    parser.add_argument("--url")
    parser.add_argument("plan")
    # argparse splits "--" differently from one Python to the next.
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:cut])
    options.command = sys.argv[cut + 1:]
    if not (options.url or options.command):
        parser.error("no --url and no command")
    try:
        print(json.dumps(anyio.run(run, options)))
    except BaseException as error:
        print(json.dumps({"failed": innermost(error)}))
        sys.exit(1)


if __name__ == "__main__":
    main()
