"""Services that fail in the middle of a conversation: others take over at a seam, nothing is said twice, and the first
service is used again when it is healthy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from duologue import Fallback, HealthRule
from duologue.core.leaves import ErrorClass
from duologue.ears.scripted import ScriptedEars
from duologue.observe import signals as sg
from duologue.ports import Final, Heard, Incoming, Part, Partial, Request, ServiceError, SpeechBegan, SpeechEnded
from duologue.testing import ScriptedBrain
from tests.failover.failing_services import DOWN, Voice
from tests.runtime.runtime_fakes import Stage, play

RULE = HealthRule(failures_max=1, rest_ms=15_000)
ANSWER = "Your table is booked for seven. We look forward to seeing you. Is there anything else?"


def switches(stage: Stage) -> list[tuple[str, str, str, str]]:
    return [(one.part, one.source, one.target, one.why) for one in stage.told(sg.ServiceSwitched)]


class Answering:
    """A brain of a word every 50 ms, which fails in its first answer after so many words."""

    can_go_on = True

    def __init__(self, answer: str, fails_after: int | None = None) -> None:
        self.answer, self.fails_after = answer, fails_after
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        self.requests.append(request)
        for number, word in enumerate(self.answer.split()):
            if number == self.fails_after and len(self.requests) == 1:
                raise DOWN
            yield f"{word} "
            await asyncio.sleep(0.05)


def test_a_brain_that_fails_within_its_answer_is_followed_after_a_whole_sentence_and_used_again_later() -> None:
    first, second = Answering(ANSWER, fails_after=9), Answering("We are open until ten. Good bye.")

    async def scene(stage: Stage) -> None:
        await stage.say("a table for two please")
        await stage.rest()
        assert stage.heard == ["Your table is booked for seven. We are open until ten. Good bye."]
        assert [request.said for request in second.requests] == ["Your table is booked for seven."]
        assert switches(stage) == [("brain", "one", "two", "SERVER_ERROR")]
        await stage.say("and thank you")
        await stage.rest()
        assert len(second.requests) == 2  # the first brain rests
        await stage.sleep(15_000)
        await stage.say("once more please")
        await stage.rest()
        assert stage.heard[-1] == ANSWER
        assert switches(stage)[1:] == [("brain", "two", "one", "healthy")]
        assert not stage.told(sg.Failed)
        assert not stage.lost

    play(scene, Fallback(first, second, rule=RULE, names=("one", "two")))


def test_a_voice_without_word_times_that_fails_in_a_sentence_is_followed_by_another_that_says_the_whole_sentence() -> (
    None
):
    class Breaking(Voice):
        async def speak(self, text: str) -> AsyncGenerator[object, None]:  # type: ignore[override]
            self.fails_after_ms = 600 if len(self.texts) == 1 else None
            async for sound in super().speak(text):
                yield sound

    first, second = Breaking(has_times=False), Voice(has_times=False)

    async def scene(stage: Stage) -> None:
        await stage.say("a table for two please")
        await stage.rest()
        assert stage.heard == [ANSWER]
        assert first.texts == ANSWER.replace(". ", ".\n").splitlines()[:2]
        assert second.texts == ANSWER.replace(". ", ".\n").splitlines()[1:]
        assert switches(stage) == [("voice", "one", "two", "SERVER_ERROR")]
        await stage.sleep(15_000)
        await stage.say("once more please")
        await stage.rest()
        assert stage.heard[-1] == "Yes."
        assert first.texts[-1] == "Yes."
        assert switches(stage)[1:] == [("voice", "two", "one", "healthy")]
        assert not stage.told(sg.Failed)

    play(scene, ScriptedBrain([ANSWER, "Yes."]), voice=Fallback(first, second, rule=RULE, names=("one", "two")))


class ToldEars(ScriptedEars):
    """Scripted ears that stop when their audio ends, as real ones do."""

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:  # type: ignore[override]
        async def until_the_end() -> AsyncIterator[Incoming]:
            async for item in audio:
                yield item
            self.fail(EOFError())

        try:
            async for heard in super().listen(until_the_end()):
                yield heard
        except EOFError:
            return


def test_ears_that_fail_while_a_person_talks_are_followed_and_the_turn_is_answered_once() -> None:
    first, second = ToldEars(), ToldEars()
    brain = ScriptedBrain(otherwise="All right.")

    async def scene(stage: Stage) -> None:
        first.tell(SpeechBegan(1))
        await stage.sleep(300)
        first.tell(Partial("I would like", 0.9, 1))
        await stage.sleep(300)
        first.fail(ServiceError(ErrorClass.NETWORK_TIMEOUT, "down"))
        await stage.sleep(300)
        second.tell(SpeechBegan(1))  # it hears the utterance again, from its start
        second.tell(Partial("I would like tea please", 0.9, 1))
        await stage.sleep(200)
        second.tell(SpeechEnded(1))
        await stage.sleep(100)
        second.tell(Final("I would like tea please", 0.9, 1))
        await stage.rest()
        assert stage.said == ["I would like tea please"]
        assert stage.heard == ["All right."]
        assert switches(stage) == [("ears", "one", "two", "NETWORK_TIMEOUT")]
        await stage.sleep(15_000)
        second.tell(SpeechBegan(2))
        second.tell(Partial("thank you very much", 0.9, 2))
        second.tell(SpeechEnded(2))
        await stage.sleep(100)
        second.tell(Final("thank you very much", 0.9, 2))
        await stage.rest()
        await stage.sleep(500)  # after this turn the first ears listen again
        first.tell(SpeechBegan(1))
        first.tell(Partial("and good bye", 0.9, 1))
        first.tell(SpeechEnded(1))
        await stage.sleep(100)
        first.tell(Final("and good bye", 0.9, 1))
        await stage.rest()
        assert stage.said == ["I would like tea please", "thank you very much", "and good bye"]
        assert switches(stage)[1:] == [("ears", "two", "one", "healthy")]
        assert not stage.told(sg.Failed)

    play(scene, brain, ears=Fallback(first, second, rule=RULE, names=("one", "two")))
