"""The types of the server's messages, as `@pipecat-ai/client-js` 1.13.1 declares them (rtvi/messages.ts).

Rule: a message has the fields of its type, with the right types, and no type that the client or protocol 2.2 lacks.
"""

from __future__ import annotations

from typing import Any

METRIC = {"processor": str, "value": (int, float)}
# By type: its required fields and its optional ones. None: the message has no data.
TYPES: dict[str, tuple[dict[str, Any], dict[str, Any]] | None] = {
    "bot-ready": ({"version": str}, {"about": dict}),
    "error": ({"error": str, "fatal": bool}, {"message": str}),
    "error-response": ({"error": str}, {}),
    "server-response": ({"t": str}, {"d": object}),
    "metrics": ({}, {"ttfb": list, "processing": list, "characters": list, "tokens": list}),
    "user-started-speaking": None,
    "user-stopped-speaking": None,
    "bot-started-speaking": None,
    "bot-stopped-speaking": None,
    "bot-interrupted": None,
    "user-transcription": ({"text": str, "final": bool, "timestamp": str, "user_id": str}, {}),
    "user-llm-text": ({"text": str}, {}),
    "bot-transcription": ({"text": str}, {}),
    "bot-output": (
        {"text": str},
        {
            "aggregated_by": str,
            "segment_id": int,
            "spoken": bool,
            "will_be_spoken": bool,
            "spoken_status": str,
            "spoken_progress": dict,
        },
    ),
    "bot-llm-started": None,
    "bot-llm-text": ({"text": str}, {}),
    "bot-llm-stopped": None,
    "bot-tts-started": None,
    "bot-tts-text": ({"text": str}, {}),
    "bot-tts-stopped": None,
    "llm-function-call-started": ({}, {"function_name": str}),
    "llm-function-call-in-progress": ({"tool_call_id": str}, {"function_name": str, "arguments": dict}),
    "llm-function-call-stopped": (
        {"tool_call_id": str, "cancelled": bool},
        {"function_name": str, "result": object},
    ),
}


def problems_of_message(message: dict[str, Any]) -> list[str]:
    """What is wrong with a message of the server."""
    kind = message.get("type")
    if set(message) - {"label", "type", "id", "data"} or message.get("label") != "rtvi-ai":
        return [f"the envelope of {kind} is wrong: {sorted(message)}"]
    if not isinstance(message.get("id"), str) or not message["id"]:
        return [f"{kind} has no id"]
    if kind == "server-message":
        return []
    if kind not in TYPES:
        return [f"unknown type {kind}"]
    fields = TYPES[kind]
    if fields is None:
        return [f"{kind} has data"] if "data" in message else []
    return _problems_of_data(str(kind), message.get("data"), *fields)


def _problems_of_data(kind: str, data: Any, required: dict[str, Any], optional: dict[str, Any]) -> list[str]:
    if not isinstance(data, dict):
        return [f"{kind} has no data"]
    known = required | optional
    problems = [f"{kind} lacks {name}" for name in required if name not in data]
    problems += [f"{kind} has an unknown field {name}" for name in data if name not in known]
    problems += [
        f"{kind}.{name} is {value!r}" for name, value in data.items() if not isinstance(value, known.get(name, object))
    ]
    return problems
