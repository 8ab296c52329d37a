"""Tools for testing voice agents: whole calls on a simulated clock, with the real driver and without sleeping.

def test_it_books(call):            # a call to the agent that your fixture `agent` returns
    call.user("book a flight to Rome")
    call.expect_heard("When?").expect_asked_once()
"""

from duologue.brains.scripted import ScriptedBrain
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.ports.scripted_steps import Delay, Fail, Hang
from duologue.runtime.simulated_clock import NetworkInSimulation, SimulatedLoop, SimulationStuck, run_simulated
from duologue.voice.scripted import ScriptedVoice
from duologue.workers.scripted import AskPerson, Partly, Progress, ScriptedWorker, scripted_tool

from .call import Call
from .live_call import LiveCall
from .observed_call import SoundedWord
from .person import Person, SpeakingPace
from .scripted_model import ScriptedModel
from .scripted_session import ScriptedSession

__all__ = [
    "AskPerson",
    "Call",
    "Delay",
    "Fail",
    "Hang",
    "LiveCall",
    "NetworkInSimulation",
    "Partly",
    "Person",
    "Progress",
    "ScriptedBrain",
    "ScriptedEars",
    "ScriptedLine",
    "ScriptedModel",
    "ScriptedSession",
    "ScriptedVoice",
    "ScriptedWorker",
    "SimulatedLoop",
    "SimulationStuck",
    "SoundedWord",
    "SpeakingPace",
    "run_simulated",
    "scripted_tool",
]
