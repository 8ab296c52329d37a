"""Workers carry out tool calls: plain functions, and the tools of MCP servers.

Importing this package loads neither pydantic nor the MCP SDK. Each is loaded when it is first needed.
"""

from .function_tools import FunctionWorker, as_worker, tool
from .mcp import McpServer
from .results import result_text, shorten

__all__ = ["FunctionWorker", "McpServer", "as_worker", "result_text", "shorten", "tool"]
