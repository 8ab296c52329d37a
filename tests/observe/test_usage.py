"""What a conversation has used, by provider."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from duologue.observe import signals as sg
from duologue.observe import usage
from duologue.observe.prometheus import Tally
from duologue.observe.usage import UsageLedger, UsageRow, total_of
from duologue.ports.brain import Part, Request
from duologue.ports.ears import Frame
from duologue.ports.usage_report import report_usage
from duologue.testing import Call


class CountingBrain:
    """A brain that reports tokens, as ChatBrain does."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        yield "Good day."
        report_usage("llm", "api.example.com", "small", input_tokens=120, cached_tokens=20, output_tokens=4)


def test_tokens_characters_and_sound_are_signals_and_sums() -> None:
    with Call(CountingBrain()) as call:
        call.user("hello").expect_heard("Good day.")
        call.user("again").expect_heard("Good day.")
        used = [signal for signal in call.signals if isinstance(signal, sg.Used)]
        rows = {row.part: row for row in call.conversation.usage}
    assert [signal.part for signal in used].count("llm") == 2
    assert rows["llm"] == UsageRow("llm", "api.example.com", "small", 240, 40, 8)
    assert rows["tts"].provider == "ScriptedVoice"
    assert rows["tts"].characters == 2 * len("Good day.")
    assert rows["tts"].spoken_ms > 0
    assert all(signal.began_at <= signal.at for signal in used)


def test_the_sound_that_the_ears_got_is_counted_once_a_turn() -> None:
    with Call(lambda _: "Yes.") as call:
        call.does(lambda: [call.line.tell(Frame(bytes(640))) for _ in range(50)])
        call.user("hello").expect_heard("Yes.")
        call.does(lambda: call.line.tell(Frame(bytes(640))))
    heard = [signal.heard_ms for signal in call.signals if isinstance(signal, sg.Used) and signal.part == "stt"]
    assert heard == [1_000, 20]


def test_what_was_sent_to_a_voice_is_used_even_if_it_was_cut_off() -> None:
    with Call(lambda _: "One two three four five six seven eight nine ten.") as call:
        call.user("count").interrupts("no wait stop", after_ms=400)
        used = [signal for signal in call.signals if isinstance(signal, sg.Used) and signal.part == "tts"]
    assert used[0].characters == len("One two three four five six seven eight nine ten.")


def test_usage_is_a_metric_by_part_provider_and_unit() -> None:
    tally = Tally()
    with Call(CountingBrain()) as call:
        tally.watch(call.conversation)
        call.does(lambda: [call.line.tell(Frame(bytes(640))) for _ in range(50)])
        call.user("hello").expect_heard("Good day.")
        (spoken,) = [row for row in call.conversation.usage if row.part == "tts"]
    assert spoken.spoken_ms > 0
    for part, provider, unit, amount in (
        ("llm", "api.example.com", "input_tokens", 120),
        ("stt", "ScriptedEars", "heard_ms", 1_000),
        ("tts", "ScriptedVoice", "characters", len("Good day.")),
        ("tts", "ScriptedVoice", "spoken_ms", spoken.spoken_ms),
    ):
        line = f'duologue_usage_total{{part="{part}",provider="{provider}",unit="{unit}"}} {amount}'
        assert line in tally.text().splitlines()


def test_the_ledger_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "ROWS_MAX", 2)
    ledger = UsageLedger()
    for name in ("a", "b", "c", "d"):
        ledger.add(sg.Used(0, "tts", name, characters=1))
    assert [row.provider for row in ledger.rows] == ["a", "b", "other"]
    assert total_of(ledger.rows)["characters"] == 4
    assert ledger.rows[2].to_json() == {"part": "tts", "provider": "other", "model": "", "characters": 2}
