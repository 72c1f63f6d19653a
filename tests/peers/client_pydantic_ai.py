"""An agent of pydantic-ai whose model is a function: it calls the given tools in turn, then ends.

    client_pydantic_ai.py CALLS (--url URL | -- COMMAND ARG…)

CALLS is a JSON array of [tool, arguments]. Output, one line of JSON: {tools, returns, output}: the tools that the model
was offered, and per call what came back to it: [tool, "tool-return" | "retry-prompt", outcome or null, content].
Exit 1 with {"failed": …} where the agent did not run to its end."""

import argparse
import asyncio
import json
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

LIMIT_SECONDS = 60


async def run(options):
    calls, offered, returns = json.loads(options.calls), [], []

    def model(messages, info):
        if not offered:
            offered.extend(tool.name for tool in info.function_tools)
        for part in messages[-1].parts:
            if part.part_kind in ("tool-return", "retry-prompt"):
                returns.append([part.tool_name, part.part_kind, getattr(part, "outcome", None), part.content])
        done = len(returns)
        if done < len(calls):
            return ModelResponse(parts=[ToolCallPart(calls[done][0], calls[done][1])])
        return ModelResponse(parts=[TextPart("done")])

    if options.url:
        server = options.url
    else:
        server = StdioTransport(options.command[0], options.command[1:], keep_alive=False)
    # A refused call must not end the run: the model is to see the refusal and go on.
    toolset = MCPToolset(server, max_retries=len(calls))
    agent = Agent(FunctionModel(model), toolsets=[toolset])
    async with agent:
        output = (await asyncio.wait_for(agent.run("go"), LIMIT_SECONDS)).output
    return {"tools": offered, "returns": returns, "output": output}


def innermost(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description="pydantic-ai agent")
    parser.add_argument("--url")
    parser.add_argument("calls")
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:cut])
    options.command = sys.argv[cut + 1:]
    if not (options.url or options.command):
        parser.error("no --url and no command")
    try:
        print(json.dumps(asyncio.run(run(options)), default=str))
    except BaseException as error:
        print(json.dumps({"failed": innermost(error)}))
        sys.exit(1)


if __name__ == "__main__":
    main()
