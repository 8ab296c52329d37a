"""The vocabulary of the state machine: the leaves (states) of each region, the timers and a few small enums.

The state of a conversation has five independent parts, called regions. Each region is in exactly one leaf; only the
region of jobs has one leaf for each job record. Rule: each region stands for one question (such as "what is the person
doing?"), and its leaf is the answer. A value that follows from several regions (such as the floor: who may speak) is
never stored.
"""

from __future__ import annotations

from enum import Enum


class Leaf(Enum):
    """A state of one region, or a value of a small enum. Leaves are hashed by identity, because this is fast and every
    step looks leaves up in dictionaries."""

    __hash__ = object.__hash__


class Link(Leaf):
    """Is there a healthy session?"""

    IDLE = "idle"
    PREPARING = "preparing"
    UP = "up"
    SUSPENDED = "suspended"  # a pause was requested
    RENEWING = "renewing"  # the session is being replaced before its limit
    HEALING = "healing"  # the line is interrupted and may come back by itself
    BACKING_OFF = "backing_off"  # the line is lost; waiting before the next attempt
    RECONNECTING = "reconnecting"  # an attempt to reconnect is under way
    FAULTED = "faulted"
    TERMINATING = "terminating"


class User(Leaf):
    """What is the person doing?"""

    QUIET = "quiet"
    TALKING = "talking"
    SETTLING = "settling"  # speech ended, the endpoint is not certain yet
    TRANSCRIBING = "transcribing"  # the turn is over, its final text is still to come


class Voice(Leaf):
    """What is the agent's sound doing?"""

    SILENT = "silent"
    PLAYING = "playing"
    HELD = "held"  # the user made a sound; the verdict whether it interrupts is pending
    STOPPING = "stopping"  # interrupted, the line has not confirmed silence yet
    HUSHED = "hushed"  # silence is confirmed, the short pause after it isn't over


class Reply(Leaf):
    """How far along is the agent's reply?"""

    NONE = "none"
    COMMITTING = "committing"  # the request was sent and isn't accepted yet
    WAITING = "waiting"  # accepted, no token yet
    GENERATING = "generating"
    READY = "ready"  # audio is buffered, but the floor isn't free
    RETRYING = "retrying"
    GUESSING = "guessing"  # asked early, before the person's turn is certain to be over
    DRAFTING = "drafting"  # asked early, and tokens arrive
    DRAFTED = "drafted"  # asked early, and audio is buffered


class JobKind(Leaf):
    """What kind of job is this? Each job record has one kind."""

    ABSENT = "absent"
    TOOL = "tool"
    DELEGATED = "delegated"  # a long job that the conversation waits for
    DISPATCHED = "dispatched"  # a long job that runs in the background


class Timer(Leaf):
    """All deadlines of the state machine. The module `deadlines` says in which leaves each deadline can be set."""

    PREPARE = "prepare"
    SUSPEND = "suspend"
    RENEW = "renew"
    HEAL = "heal"
    BACKOFF = "backoff"
    CONNECT = "connect"
    RECONNECT = "reconnect"
    DISMISS = "dismiss"
    CLOSE = "close"
    SESSION_WARNING = "session_warning"
    SESSION_LIMIT = "session_limit"
    BREAKER = "breaker"
    TALK = "talk"
    COMMIT = "commit"  # the audio of a long turn is committed again and again
    SETTLE = "settle"
    TEXT = "text"
    STALL = "stall"
    OVERLAP = "overlap"
    LULL = "lull"  # the wait for words after the overlapping sound has ended
    BREATH = "breath"  # the short pause after an interruption
    STOP = "stop"
    LONG_SPEECH = "long_speech"
    BEAT = "beat"  # a short wait before the brain is asked about owed turns and news
    ATTEMPT = "attempt"
    ANSWER = "answer"
    RETRY = "retry"
    READY = "ready"
    PATIENCE = "patience"  # limits how long noise may hold a request back
    DEAD_AIR = "dead_air"
    CUE = "cue"  # a sign that the agent is there, while the person waits in silence
    OFFER = "offer"  # a short wait after an interruption without words
    LAST_WORDS = "last_words"  # the conversation ends as soon as everything was said
    JOB = "job"  # this timer and the next two are stored in the job's record
    HEARTBEAT = "heartbeat"
    FEEDBACK = "feedback"


TIMERS: tuple[Timer, ...] = tuple(Timer)
TIMER_INDEX: dict[Timer, int] = {timer: index for index, timer in enumerate(TIMERS)}
JOB_TIMERS = (Timer.JOB, Timer.HEARTBEAT, Timer.FEEDBACK)


class Words(Leaf):
    """What kind of words the current turn has so far."""

    NONE = "none"
    FILLER = "filler"  # words, but no substantial ones
    PRESENCE = "presence"  # only a question whether the agent is there, such as "hello?"
    SUBSTANTIAL = "substantial"


class Ask(Leaf):
    """What the agent should say next, as stated in a request to the brain."""

    ANSWER = "answer"
    CHECK_IN = "check_in"
    GOODBYE = "goodbye"
    OFFER = "offer"  # an offer to go on after an interruption without words
    SAY = "say"  # text from the program: the brain isn't asked


class Cue(Leaf):
    """What a cue tells the person. A cue is a short sound or phrase that belongs to no reply and isn't written to the
    history."""

    SOUND = "sound"  # the agent is there
    WORDS = "words"  # what is going on
    PRESENCE = "presence"  # an answer to "hello?"
    APOLOGY = "apology"  # a question gets no answer
    EMPTY = "empty"  # the brain had nothing to say, twice
    BROKEN_OFF = "broken_off"  # an answer failed after a part of it was heard
    CALL_MADE = "call_made"  # an answer failed after it had called a tool
    ENDED = "ended"  # the conversation can't go on


class Ending(Leaf):
    """Does the conversation end as soon as everything was said?"""

    NO = "no"
    UNLESS_OPPOSED = "unless_opposed"  # not if the person says something before
    CERTAIN = "certain"


class ErrorClass(Leaf):
    """The class of a failure. The adapter in which the failure happened chooses the class."""

    RATE_LIMIT = "RATE_LIMIT"
    NETWORK_TIMEOUT = "NETWORK_TIMEOUT"
    TOOL_ERROR = "TOOL_ERROR"
    INVALID_ARGS = "INVALID_ARGS"
    SESSION_EXPIRED = "SESSION_EXPIRED"
    AUTH_FAILURE = "AUTH_FAILURE"
    SERVER_ERROR = "SERVER_ERROR"
    UNKNOWN = "UNKNOWN"


class FaultSource(Leaf):
    """Which part of the system a fault came from."""

    BRAIN = "brain"
    VOICE = "voice"
    EARS = "ears"
    SESSION = "session"
    LINK = "link"


class Outcome(Leaf):
    """How a tool call or a job ended. If a tool call got its output although its job continues, the outcome says
    why."""

    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    REFUSED = "refused"  # too many jobs at once
    STARTED = "started"  # dispatched: the call has its output, the job continues
    NEEDS_INPUT = "needs_input"  # the worker asks a question; the job continues


class Overlap(Leaf):
    """What happens if the user speaks while the agent speaks."""

    IMMEDIATE = "immediate"  # the onset (first sign of speech) interrupts
    CONFIRM = "confirm"  # the onset holds playback, then the verdict decides whether to interrupt
    WORDS = "words"  # playback continues, and the verdict decides whether to interrupt


FROZEN = (Link.SUSPENDED, Link.RENEWING, Link.HEALING)
LIVE = (Link.UP, *FROZEN)
DEAD = tuple(link for link in Link if link not in LIVE)
AWAY = (Link.BACKING_OFF, Link.RECONNECTING)
CLOSED = (Link.IDLE, Link.TERMINATING)
ACTIVE = tuple(link for link in Link if link not in CLOSED)

UNHEARD = (Link.SUSPENDED, Link.HEALING)  # the line carries no sound, or the person asked for a pause

SOUNDING = (Voice.PLAYING, Voice.HELD)
ENDING = (Voice.STOPPING, Voice.HUSHED)
PENDING = (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING, Reply.READY, Reply.RETRYING)
EARLY = (Reply.GUESSING, Reply.DRAFTING, Reply.DRAFTED)  # dropped unheard, unless the turn ends with the same words
FOREGROUND = (JobKind.TOOL, JobKind.DELEGATED)
