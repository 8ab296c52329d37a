"""Scopes: which part of the hearing machine and the conversation machine one exploration covers.

There are too many combinations of texts, buttons, agent speech and pauses to visit in one exploration. Each scope
allows only some kinds of stimuli, and a few utterances. Every row of the hearing machine fires in at least one scope.
Rule: a scope says which stimuli may come, never how the machines react to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from duologue.core.settings import PROFILES, Settings, with_changes
from duologue.hearing.inputs import QuestionSpan
from duologue.hearing.policy import HearingPolicy
from duologue.turns.endpoint import EasyTurnEndpoint, EndpointPolicy
from duologue.turns.overlap import OVERLAP_RULES
from duologue.turns.own_speech import SpokenWord

# Texts of one utterance. "#" becomes the utterance's own number, so that every word can be traced to it.
SHORT, LONG, LONGER, REVISED, FILLER, EMPTY = "go#", "go# on#", "go# on# far#", "go# off#", "um", ""
ECHO, OVER_ECHO, MORE_OVER_ECHO = "our house is", "house is go#", "our house is go# on#"
AGENT_WORDS = tuple(
    SpokenWord(word, 200 * place, 200 * place + 200) for place, word in enumerate("our house is yours is it".split())
)
SPOKEN_MS = 1_200  # how long the agent's speech is, and where its question ends
QUESTION = QuestionSpan(0, SPOKEN_MS)  # the only question that the agent asks


@dataclass(frozen=True, slots=True)
class HearingScope:
    """What may happen in one exploration."""

    name: str
    utterances: int = 2
    partials: tuple[str, ...] = (SHORT,)
    finals: tuple[str, ...] = (LONG, EMPTY)
    revisions: tuple[str, ...] = ()
    confidences: tuple[float, ...] = (1.0,)  # of every text
    first_texts: tuple[str, ...] = ("",)  # of final texts: what the model of the partial texts has read
    numbered: bool = True  # the ears number utterances
    onsets: bool = True  # the ears report onsets and ends
    quiet_ms: int = 0  # how late they report the end of a voice
    stray: bool = False  # text for an utterance that was never reported, and for a skipped number
    swaps: bool = False  # the end of a voice may be reported before its onset
    server: bool = False  # the ears detect the end of a turn
    frames: int = 0  # how many frames of voice, and of silence, the ears report for an utterance
    buttons: int = 0  # how often the button is pressed
    sends: int = 0  # how often the user presses send
    typed: int = 0  # how many turns are typed
    replies: bool = False  # the brain answers
    speaks: bool = False  # the agent's answers are spoken
    firm: bool = False
    late: bool = False  # a late report says that a reply was heard
    line: bool = False  # the line wobbles, pauses, heals and is lost
    stops: int = 0  # how often the ears stop
    ends: bool = False  # the call ends
    begins_speaking: bool = False  # the agent is speaking at the start
    long: bool = False  # the user may talk for longer than a turn may last
    wait_ms: int = 0  # besides the due times, this much time may pass at once
    endpoint: EndpointPolicy | None = None
    asks: int = 0  # how often the agent asks a question; times of questions and answers are explored then
    job: bool = False  # a job runs whose question the agent asks
    asks_early: bool = False  # the brain is asked before the end of a turn is certain
    judges: bool = False  # the brain says how complete the words are
    check_in_ms: int = 0  # silence after which the agent checks in; 0: never

    def settings(self, profile: str) -> Settings:
        """The profile's settings, but with some features turned off or limited, because other explorations cover them:
        check-ins, cues, retries and repeated faults."""
        return with_changes(
            PROFILES[profile],
            greets=False,
            commit_ms=600_000,
            cue_ms=(36_000_000,),
            dead_air_ms=self.check_in_ms,
            check_ins_max=1,
            hangs_up=False,
            session_ms_max=0,
            session_warning_ms=0,
            attempt_ms_max=30_000,
            retry_ms=(1_000,),
            backoff_ms=(1_000,),
            faults_max=1,
            faults_in_a_row_max=1,
        )

    @property
    def echoes(self) -> bool:
        """Can a heard text contain the agent's own words (echo)?"""
        texts = {*self.partials, *self.finals, *self.revisions, *self.first_texts}
        return not texts.isdisjoint((ECHO, OVER_ECHO, MORE_OVER_ECHO))

    def policy(self, profile: str) -> HearingPolicy:
        chosen = HearingPolicy(overlap=OVERLAP_RULES[profile], early_wait_ms_max=10_000 if self.asks_early else 0)
        return chosen if self.endpoint is None else replace(chosen, endpoint=self.endpoint)


_SPEAKING = {"speaks": True, "begins_speaking": True}

SMALL: tuple[HearingScope, ...] = (
    HearingScope("words", finals=(LONG,), revisions=(REVISED,), replies=True, quiet_ms=200),
    HearingScope("fillers", 1, (SHORT, FILLER), (LONG, FILLER, EMPTY), (REVISED, FILLER, EMPTY), replies=True),
    HearingScope("again", 2, (FILLER,), (FILLER,)),
    HearingScope("late", 3, (), (LONG, EMPTY)),
    HearingScope("stray", 2, (), (LONG, EMPTY), stray=True),  # a third one would make it three times as large
    HearingScope("swapped", 2, (), (LONG, EMPTY), swaps=True),
    HearingScope("sent", finals=(LONGER,), sends=1, replies=True),
    HearingScope("button", 1, (SHORT,), (LONGER, EMPTY), buttons=1, sends=1),
    HearingScope("typed", 1, (SHORT,), (LONGER,), sends=1, typed=1, replies=True),
    HearingScope("over", 1, (SHORT,), (LONG, FILLER, EMPTY), (REVISED,), **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("twice", 2, (), (LONG, FILLER), **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("served", 1, (), (LONG, FILLER), server=True, **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("early", 1, (), (FILLER,), **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("lagging", 1, (), (FILLER,), wait_ms=700, **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("firm", 1, (), (LONG, FILLER, ECHO), firm=True, late=True, **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("echo", 1, (OVER_ECHO,), (MORE_OVER_ECHO, ECHO), **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("doubtful", 1, (SHORT,), (LONG, ECHO), confidences=(1.0, 0.2), first_texts=("", SHORT), **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("long", 1, (SHORT,), (LONGER, EMPTY), long=True, buttons=1),
    HearingScope("line", 1, (SHORT,), (LONG,), line=True, buttons=1, stops=1),
    HearingScope("frames", 1, (SHORT,), (LONG,), frames=2, **_SPEAKING),  # type: ignore[arg-type]
    HearingScope("textual", 2, (SHORT,), (LONG,), numbered=False, onsets=False, server=True, replies=True, sends=1),
    HearingScope("unnumbered", 2, (SHORT,), (LONG,), (REVISED,), numbered=False, server=True, stops=1, ends=True),
    HearingScope("guesses", 2, (SHORT,), (LONG,), typed=1, replies=True, asks_early=True),
    HearingScope("guessed", 1, (), (LONG,), (REVISED,), speaks=True, asks_early=True),
    HearingScope("judged", 1, (SHORT,), (LONG,), (REVISED,), replies=True, asks_early=True, judges=True),
    HearingScope("weighed", 1, (SHORT,), (LONG,), frames=1, judges=True),
    HearingScope("asked", 1, (), (LONG,), typed=1, replies=True, speaks=True, asks=1, wait_ms=300),
    HearingScope("asked again", 0, typed=2, replies=True, speaks=True, asks=2, wait_ms=700),
    HearingScope("job asks", 1, (), (LONG,), typed=1, replies=True, speaks=True, asks=1, job=True, wait_ms=300),
    HearingScope("job asks again", 0, typed=2, replies=True, speaks=True, asks=2, job=True, wait_ms=700),
    HearingScope("noise", 1, (), (EMPTY,), frames=1, check_in_ms=3_000),
    HearingScope("easy", 2, (SHORT,), (LONG,), frames=2, endpoint=EasyTurnEndpoint()),
)
SCOPES = {scope.name: scope for scope in SMALL}
# For a quick check: the smallest scopes, which still fire every row.
QUICK_NAMES = (
    "fillers", "again", "stray", "swapped", "typed", "over", "early", "lagging", "firm", "echo", "doubtful", "long",
    "line", "frames", "textual", "unnumbered", "guessed", "judged", "asked", "job asks", "noise",
)  # fmt: skip
QUICK = tuple(SCOPES[name] for name in QUICK_NAMES)
