"""The texts that the program itself says and asks in a call, with `say` and `ask`. Each waits here until the state
machine allows it.

The state machine knows only whether a text waits. Rule: a text is said again only if no part of it was heard. If a part
was heard, `say` returns that part.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import CLOSED, Ask, JobKind, Reply, User, Voice
from duologue.core.state import State, has_foreground
from duologue.core.step_record import StepRecord
from duologue.ports.answering import is_answering
from duologue.ports.brain import OpenQuestion, Part, Request
from duologue.ports.context import NotPossible
from duologue.ports.ears import Final, Heard, Partial

from .driver import Driver
from .flag import Flag
from .transcript import Transcript

WAITING_MAX = 50  # texts that wait to be said
TEXT_CHARS_MAX = 4_000
SETTLED_S = 1.0  # a reply that has been silent for this long waits for the program
HIDDEN = "hidden"  # stands for each word of a secret answer


# The time limit of the running hook, if a hook runs. It is paused while the hook waits until something was said.
HOOK_LIMIT: ContextVar[HookLimit | None] = ContextVar("hook_limit", default=None)


class HookLimit:
    """The time limit of a hook. The limit can be paused; `resume` starts it from the beginning."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._timeout = asyncio.timeout(limit_s)

    @property
    def timeout(self) -> asyncio.Timeout:
        return self._timeout

    def pause(self) -> None:
        self._timeout.reschedule(None)

    def resume(self) -> None:
        self._timeout.reschedule(asyncio.get_running_loop().time() + self._limit_s)


class _Unlimited:
    """An awaitable that waits for `done`. While a hook awaits it, the time limit of the hook is paused."""

    def __init__(self, done: asyncio.Future[str]) -> None:
        self._done = done

    def __await__(self) -> Generator[Any, None, str]:
        _check_can_wait("say")
        limit = HOOK_LIMIT.get()
        if limit is None:
            return (yield from self._done.__await__())
        limit.pause()
        try:
            return (yield from self._done.__await__())
        finally:
            limit.resume()


@dataclass(eq=False, slots=True)
class _Words:
    """A text that the program says or asks, and the future that its caller awaits."""

    text: str
    asks: bool
    done: asyncio.Future[str]
    secret: bool = False
    confirms: bool = False  # the answer is a yes or a no
    finals: dict[int, str] = field(default_factory=dict)  # the texts of a secret answer, by utterance; never stored


class ProgramSpeech:
    """The texts that the program says and asks in one conversation."""

    def __init__(self, driver: Driver, transcript: Transcript) -> None:
        self._driver = driver
        self._transcript = transcript
        self._waiting: list[_Words] = []
        self._current: list[_Words] = []  # the texts that the newest request says
        self._reply = 0
        self._question: _Words | None = None  # heard, and not answered yet
        self._asked_in = 0  # the reply that asked it
        self._said_before = 0  # the newest turn when the question was asked: it isn't the answer
        self._asking = asyncio.Lock()
        self._stepped = Flag()  # set after each step
        # Do the words of these turns answer the question of this reply? The hearing machine knows. The last argument
        # says whether the answer is a yes or a no.
        self.answers: Callable[[int, int, int, bool], bool] = lambda reply, first, last, confirms: True  # noqa: ARG005

    # -- From the program

    def say(self, text: str) -> Awaitable[str]:
        return _Unlimited(self._add(text, asks=False).done)

    async def ask(self, question: str, *, secret: bool, limit_s: float | None, confirms: bool = False) -> str:
        _check_can_wait("ask")
        async with self._asking:  # one question at a time
            words = self._add(question, asks=True, secret=secret)
            words.confirms = confirms
            for job in self._driver.state.jobs:
                if job.kind is JobKind.TOOL:  # a tool that asks may take as long as a person needs
                    self._driver.post(ev.CallDelegated, call=job.call)
            try:
                async with asyncio.timeout(limit_s):
                    return await self._answer(words)
            except TimeoutError:
                return ""
            finally:
                self._drop(words)

    async def _answer(self, words: _Words) -> str:
        """Wait for the answer. While work runs, the machine doesn't check in. So if the person stays silent then, ask
        again after as long a silence, and as often, as the machine would check in."""
        limit = HOOK_LIMIT.get()
        if limit is not None:
            limit.pause()
        try:
            for _ in range(self._driver.state.settings.check_ins_max):
                await self._silence(words)
                if words.done.done():
                    break
                self._question = None
                self._say_again(words)
            return await words.done
        finally:
            if limit is not None:
                limit.resume()

    async def _silence(self, words: _Words) -> None:
        """Wait until the question is answered, or until the person was silent for long since it was asked."""
        due: float | None = None
        while not words.done.done():
            s = self._driver.state
            is_silent = self._question is words and s.jobs and s.settings.dead_air_ms and self._is_settled(s.said)
            if not is_silent:
                due = None
            elif due is None:
                due = asyncio.get_running_loop().time() + s.settings.dead_air_ms / 1000
            self._stepped.clear()
            try:
                async with asyncio.timeout_at(due):
                    await self._stepped.wait()
            except TimeoutError:
                return

    async def all_said(self) -> bool:
        """Wait until everything that the agent has to say was heard, and return True. Returns False if the person has
        said something meanwhile, or if the call is over."""
        said = self._driver.state.said
        while not self._is_settled(said):
            self._stepped.clear()
            is_silent = self._driver.state.voice is Voice.SILENT and not self._driver.state.says
            try:
                async with asyncio.timeout(SETTLED_S if is_silent else None):
                    await self._stepped.wait()
            except TimeoutError:
                break
        state = self._driver.state
        return state.said == said and state.link not in CLOSED and not self._driver.is_closed

    def _is_settled(self, said: int) -> bool:
        s = self._driver.state
        if s.link in CLOSED or s.said > said:
            return True
        return s.voice is Voice.SILENT and s.reply is Reply.NONE and s.user is User.QUIET and not (s.says or s.cut)

    def _add(self, text: str, *, asks: bool, secret: bool = False) -> _Words:
        if not isinstance(text, str) or not any(character.isalnum() for character in text):
            raise ValueError("there is nothing to say: the text has no letter and no digit")
        if len(text) > TEXT_CHARS_MAX:
            raise ValueError(f"the text has {len(text)} characters; at most {TEXT_CHARS_MAX} can be said at a time")
        if self._driver.is_closed or self._driver.state.link in CLOSED:
            raise NotPossible("nothing can be said: the call has not started, or is over")
        if len(self._waiting) >= WAITING_MAX:
            raise NotPossible(f"{WAITING_MAX} texts are already waiting to be said")
        words = _Words(text, asks, asyncio.get_running_loop().create_future(), secret)
        self._waiting.append(words)
        self._driver.post(ev.SpeechRequested)
        return words

    def _drop(self, words: _Words) -> None:
        """Drop a question, because the program no longer waits for the answer."""
        if self._question is words:
            self._question = None
        if words in self._waiting:
            self._waiting.remove(words)

    # -- From the state machine

    def brain(self, effect: fx.StartReply) -> ProgramBrain:
        """A brain that says the waiting texts as the reply to this request."""
        self._current += self._waiting
        self._waiting.clear()
        self._reply = effect.reply
        self._said_before = self._driver.state.said
        return ProgramBrain(tuple(self._current))

    @property
    def listens(self) -> bool:
        """Is a question of the program open: was it heard, but not answered yet?"""
        return self._question is not None

    def move_question(self, asked_in: int, said_in: int) -> None:
        """Note that the reply `said_in` repeats the rest of the reply `asked_in`, which a lost line cut off. If
        `asked_in` contained the program's question, the question now belongs to `said_in`."""
        if self._asked_in == asked_in:
            self._asked_in = said_in

    def takes(self, effect: fx.StartReply) -> bool:
        """Does this request come from the user's answer to a question of the program? If so, the program gets the
        answer, and the brain isn't asked."""
        return self._question is not None and effect.ask is Ask.ANSWER and effect.last > self._said_before

    def follow(self, record: StepRecord) -> None:
        """Process a step: note which texts were heard, and pass the user's answer to the program if a question is
        open."""
        self._stepped.set()
        after = record.after
        if self._current and after.ask is not Ask.SAY:
            self._note_end(record)
        if self._question is not None and after.said > max(after.answered, self._said_before):
            asked = any(type(effect) is fx.StartReply for effect in record.effects)
            if asked or has_foreground(after):
                self._take_answer(self._question, after)
        if after.link in CLOSED and record.before.link not in CLOSED:
            self._end()

    def _note_end(self, record: StepRecord) -> None:
        heard = self._transcript.heard_of(self._reply)
        ended, self._current = self._current, []
        may_go_on = record.after.link not in CLOSED and not isinstance(record.event, ev.InterruptRequested)
        if not heard and record.after.says and may_go_on:
            self._waiting[:0] = ended
            return
        for words, part in zip(ended, _shares(heard, [words.text for words in ended]), strict=True):
            if words.asks and part:
                self._question, self._asked_in = words, self._reply
            elif words.asks and may_go_on:  # not even a word of it was heard
                self._say_again(words)
            elif not words.done.done():
                words.done.set_result(part)

    def _take_answer(self, question: _Words, s: State) -> None:
        """Pass the user's answer to the code that asked the question. Words that the user began to say before the
        question was heard don't count as an answer. A yes or a no doesn't count either, if another question was asked
        since. If the words don't count, the question is asked again."""
        self._question = None
        first = max(s.answered, self._said_before) + 1
        if not self.answers(self._asked_in, first, s.said, question.confirms):
            self._driver.post(ev.TurnTaken, turn=s.said)
            self._say_again(question)
            return
        text = " ".join(said.text for said in self._transcript.turns(first, s.said))
        self._driver.post(ev.TurnTaken, turn=s.said)
        if not question.done.done():
            question.done.set_result(" ".join(question.finals.values()) if question.secret else text)

    def _say_again(self, question: _Words) -> None:
        question.finals.clear()
        self._waiting.insert(0, question)
        self._driver.post(ev.SpeechRequested)

    def _end(self) -> None:
        """Return an empty text to every caller that still waits in `say` or `ask`, because the call is over."""
        left = [*self._current, *self._waiting, *([self._question] if self._question is not None else [])]
        self._current, self._question = [], None
        self._waiting.clear()
        for words in left:
            if not words.done.done():
                words.done.set_result("")

    # -- Secret answers

    def hide(self, heard: Heard) -> Heard:
        """Return this report from the ears, with placeholders instead of its words while a secret question is open. The
        real words of a final text are kept for the answer."""
        words = self._secret
        if words is None or not isinstance(heard, Partial | Final):
            return heard
        if isinstance(heard, Final):
            words.finals[heard.utterance] = heard.text
        return replace(heard, text=_hidden(heard.text))

    def hide_typed(self, text: str) -> str:
        """Return this typed text, with placeholders instead of its words while a secret question is open. The real
        words are kept for the answer."""
        words = self._secret
        if words is None:
            return text
        words.finals[-1 - len(words.finals)] = text
        return _hidden(text)

    def hears_secret(self) -> bool:
        """Is a secret question open? Then the sound of the person must not be kept."""
        return self._secret is not None

    @property
    def _secret(self) -> _Words | None:
        if not self._current and self._question is None:
            return None
        asked = [*self._current, *([self._question] if self._question is not None else [])]
        return next((words for words in asked if words.asks and words.secret), None)

    # -- As data

    def dump(self) -> list[str]:
        """The texts that are still to be said. Questions aren't included, because the code that asked them doesn't
        survive a restart."""
        return [words.text for words in (*self._current, *self._waiting) if not words.asks]

    def load(self, texts: list[Any]) -> None:
        loop = asyncio.get_running_loop()
        self._waiting.extend(_Words(str(text), asks=False, done=loop.create_future()) for text in texts)


class ProgramBrain:
    """A brain that says texts of the program."""

    def __init__(self, words: tuple[_Words, ...]) -> None:
        self._words = words

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        for words in self._words:
            yield OpenQuestion(f"{words.text} ") if words.asks else f"{words.text} "


def _check_can_wait(what: str) -> None:
    """Raise NotPossible if the caller is making an answer of the agent. A text of the program is said only after this
    answer has ended, so the caller would wait for itself."""
    if is_answering():
        raise NotPossible(
            f"a brain or an action can't wait for `{what}`, because its own answer must end first: in a brain, yield "
            "the text; otherwise call `say` without `await`, or ask in a tool or a hook"
        )


def _shares(heard: str, texts: list[str]) -> list[str]:
    """Which part of each text was heard. The texts were said one after another, and `heard` is everything that was
    heard of them."""
    left = heard.split()
    parts = []
    for text in texts:
        count = min(len(text.split()), len(left))
        part, left = left[:count], left[count:]
        parts.append(text if count == len(text.split()) else " ".join(part))
    return parts


def _hidden(text: str) -> str:
    return " ".join(HIDDEN for _ in text.split())
