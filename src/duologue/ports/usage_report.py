"""The function with which a service reports what it used: tokens, characters and sound.

A conversation sets its own report function for the tasks that it starts, and tasks that they start inherit it. Rule: a
report contains only counts and the names of provider and model, never words. Outside a conversation, nothing is
reported.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

UNITS = ("input_tokens", "cached_tokens", "output_tokens", "characters", "heard_ms", "spoken_ms")


class UsageReport(Protocol):
    """A function that is called with what a service used: the part of the agent (llm, stt or tts), the provider, the
    model, and the amount of each unit. `began_at` is the time at which the work began, in milliseconds of the
    conversation's clock; 0 if it is unknown."""

    def __call__(self, part: str, provider: str, model: str, began_at: int = 0, **amounts: int) -> None: ...


_REPORT: ContextVar[UsageReport | None] = ContextVar("duologue_usage_report", default=None)


def report_usage_to(report: UsageReport) -> None:
    """From now on, `report_usage` calls this function in the current task and in tasks that it starts."""
    _REPORT.set(report)


def report_usage(part: str, provider: str, model: str = "", **amounts: int) -> None:
    """Report what a service has used. The keyword for each amount is one of the names in UNITS."""
    report = _REPORT.get()
    if report is not None:
        report(part, provider, model, **amounts)


def provider_of(service: object) -> tuple[str, str]:
    """The provider and the model of a service, from its attributes `provider` and `model`. Without a provider, the name
    of its class is used; without a model, the model is empty."""
    provider, model = getattr(service, "provider", ""), getattr(service, "model", "")
    name = provider if isinstance(provider, str) and provider else type(service).__name__
    return name, model if isinstance(model, str) else ""
