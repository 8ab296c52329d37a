"""Usage goes to the conversation whose task it happened in."""

from __future__ import annotations

import asyncio

from duologue.ports.usage_report import provider_of, report_usage, report_usage_to


def test_a_child_task_reports_to_the_conversation_of_its_parent() -> None:
    found: list[tuple[object, ...]] = []

    def report(part: str, provider: str, model: str, began_at: int = 0, **amounts: int) -> None:
        found.append((part, provider, model, began_at, amounts))

    async def service() -> None:
        report_usage("llm", "host", "small", input_tokens=3)

    async def conversation() -> None:
        report_usage_to(report)
        await asyncio.create_task(service())

    async def both() -> None:
        await asyncio.create_task(conversation())
        await service()  # outside of a conversation: nothing is reported

    asyncio.run(both())
    assert found == [("llm", "host", "small", 0, {"input_tokens": 3})]


def test_a_service_is_named_by_its_provider_and_model_or_by_its_class() -> None:
    class Plain:
        pass

    class Named:
        provider, model = "tts.example.com", "v2"

    class Odd:
        provider, model = 3, None

    assert provider_of(Plain()) == ("Plain", "")
    assert provider_of(Named()) == ("tts.example.com", "v2")
    assert provider_of(Odd()) == ("Odd", "")
