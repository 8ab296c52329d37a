"""The ports: small protocols and values for the services that a conversation uses. One file for each port.

Every streaming service is an async generator: ears turn audio frames into speech events and text, a brain turns a
request into the parts of a reply, a voice turns text into sound. Closing the generator cancels the work, an exception
means failure, and calling the service again starts a new stream. Only the line (the connection to the user) has plain
methods instead: its audio must stop before the method returns.
"""

from .brain import (
    Brain,
    Firm,
    Form,
    FormSlot,
    Guesses,
    LastWords,
    Memory,
    OpenQuestion,
    Part,
    Remembers,
    Request,
    Show,
    ShowsForm,
    Summarises,
    Truncates,
    Working,
)
from .ears import (
    Commit,
    Discard,
    Ears,
    Final,
    Frame,
    Heard,
    Incoming,
    Partial,
    Pause,
    Sounding,
    SpeechBegan,
    SpeechEnded,
    TurnOver,
    VoiceFrame,
)
from .failure import BrokenContract, ServiceError, UnknownOutcome, classify, classify_status
from .history import AgentSaid, CallOutput, Item, News, Note, UserSaid
from .line import Closed, Finished, Healed, Line, LineEvent, Played, Stopped, Unplayable, Wobbled
from .session import ReportsLife, Session, SessionContext, SessionLife
from .sound import Sound, Word
from .tool_call import ToolCall
from .voice import Voice
from .worker import Job, Mode, Tool, Worker

__all__ = [
    "AgentSaid",
    "Brain",
    "BrokenContract",
    "CallOutput",
    "Closed",
    "Commit",
    "Discard",
    "Ears",
    "Final",
    "Finished",
    "Firm",
    "Form",
    "FormSlot",
    "Frame",
    "Guesses",
    "Healed",
    "Heard",
    "Incoming",
    "Item",
    "Job",
    "LastWords",
    "Line",
    "LineEvent",
    "Memory",
    "Mode",
    "News",
    "Note",
    "OpenQuestion",
    "Part",
    "Partial",
    "Pause",
    "Played",
    "Remembers",
    "ReportsLife",
    "Request",
    "ServiceError",
    "Session",
    "SessionContext",
    "SessionLife",
    "Show",
    "ShowsForm",
    "Sound",
    "Sounding",
    "SpeechBegan",
    "SpeechEnded",
    "Stopped",
    "Summarises",
    "Tool",
    "ToolCall",
    "Truncates",
    "TurnOver",
    "UnknownOutcome",
    "Unplayable",
    "UserSaid",
    "Voice",
    "VoiceFrame",
    "Wobbled",
    "Word",
    "Worker",
    "Working",
    "classify",
    "classify_status",
]
