"""Converts a request to the chat context and the tools of an LLM plugin.

The messages are the same as in a chat-completions request, so every LLM gets the same texts. Rule: the tools are only
described to the plugin. The plugin never runs them.
"""

from __future__ import annotations

from typing import Any

from duologue.brains.chat.messages import AsideRole, write_messages
from duologue.ports.brain import Request
from duologue.ports.worker import Tool

from .plugin_loop import agents


def write_context(request: Request, instructions: str, asides: AsideRole) -> Any:
    """This request as LiveKit's chat context."""
    llm = agents().llm
    context = llm.ChatContext.empty()
    names: dict[str, str] = {}  # the tool of each call, by the call's id
    for message in write_messages(request, instructions, asides):
        role, content = message["role"], message.get("content")
        if role == "tool":
            call = message["tool_call_id"]
            context.items.append(
                llm.FunctionCallOutput(call_id=call, name=names.get(call, ""), output=content, is_error=False)
            )
            continue
        if content:
            context.add_message(role=role, content=content)
        for call in message.get("tool_calls", ()):
            function = call["function"]
            names[call["id"]] = function["name"]
            context.items.append(
                llm.FunctionCall(call_id=call["id"], name=function["name"], arguments=function["arguments"])
            )
    return context


def write_plugin_tools(tools: tuple[Tool, ...]) -> list[Any]:
    """The tools as LiveKit's objects. These objects only describe each tool by its schema; they can't run it."""
    return [_described(tool) for tool in tools]


def _described(tool: Tool) -> Any:
    async def never_run(raw_arguments: dict[str, object]) -> None:  # noqa: ARG001 - LiveKit checks the name
        raise AssertionError("the plugin tried to run a tool, but only the conversation runs tools")

    schema = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return agents().llm.function_tool(never_run, raw_schema=schema)
