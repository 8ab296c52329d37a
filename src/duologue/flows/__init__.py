"""Flow files: tasks written in YAML, checked, compiled and run. The format is described in docs/flows.md.

Importing this package loads neither PyYAML nor pydantic; both are loaded when a flow file is first read.
"""

from .load import FlowFile, flow_schema, load_flows, parse_flows, read_flows, read_text
from .problems import FlowProblem, InvalidFlows

__all__ = [
    "FlowFile",
    "FlowProblem",
    "InvalidFlows",
    "flow_schema",
    "load_flows",
    "parse_flows",
    "read_flows",
    "read_text",
]
