"""An LLM plugin as a brain.

The brain remembers nothing between requests. Rule: the brain never retries a request and never runs a tool. The
conversation does both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from duologue.brains.chat.history_budget import CHARS_MAX, CHARS_MIN
from duologue.brains.chat.messages import AsideRole
from duologue.brains.chat.request_budget import bounded
from duologue.core.leaves import Ask
from duologue.ports.brain import Brain, Part, Request
from duologue.ports.tool_call import ToolCall
from duologue.ports.usage import Usage, UsageCount, tokens_of

from .chat_context import write_context, write_plugin_tools
from .failures import plugin_failures
from .plugin_loop import PluginLoop, close_soon, connect_options


class PluginBrain(Brain):
    """Answers with an LLM plugin, such as `PluginBrain(anthropic.LLM(model="..."))`.

    `llm` is the plugin object, or a function that creates it. `instructions` come before the instructions of each
    request. `asides` is the role of messages that neither the user nor the agent said. By default, this role is "user",
    because many services accept a system message only as the first message. `on_usage` is called with the token counts
    of each reply.
    """

    can_guess = True  # a request has no effect but its price
    can_go_on = True

    def __init__(
        self,
        llm: Any,
        *,
        instructions: str = "",
        asides: AsideRole = "user",
        history_chars_max: int = CHARS_MAX,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> None:
        assert history_chars_max >= CHARS_MIN, f"history_chars_max must be at least {CHARS_MIN}"
        self._loop = PluginLoop(llm, "PluginBrain", ("chat",), "anthropic.LLM()")
        self._instructions, self._asides = instructions, asides
        self._history_chars_max = history_chars_max
        self._usage = UsageCount(on_usage)

    @property
    def usage(self) -> Usage:
        """The total number of tokens that were used so far."""
        return self._usage.total

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        """Stream the reply, part by part. If the generator is closed or its reader is cancelled, the plugin's stream is
        closed."""
        plugin = await self._loop.get()
        stream = self._loop.run(lambda: self._ask(plugin, request))
        calls = 0
        try:
            with plugin_failures(self._loop.name):
                async for chunk in stream:
                    if chunk.usage is not None:
                        self._usage.add(tokens_of(chunk.usage))
                    if chunk.delta is None:
                        continue
                    if chunk.delta.content:
                        yield chunk.delta.content
                    for call in chunk.delta.tool_calls:
                        calls += 1
                        yield ToolCall(
                            call.name, call.arguments or "{}", call.call_id or f"call_r{request.reply}_{calls}"
                        )
        finally:
            await close_soon(stream.aclose)

    async def close(self) -> None:
        """Close the plugin's connections."""
        await self._loop.close()

    def _ask(self, plugin: Any, request: Request) -> Any:
        request = bounded(request, self._history_chars_max)
        choice = {} if request.ask is Ask.ANSWER or not request.tools else {"tool_choice": "none"}
        return plugin.chat(
            chat_ctx=write_context(request, self._instructions, self._asides),
            tools=write_plugin_tools(request.tools),
            conn_options=connect_options(),
            **choice,
        )
