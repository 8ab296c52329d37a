"""An outbound reminder: a function of the call's context makes the agent, which speaks first and takes yes or no."""

from dataclasses import dataclass

from duologue import Agent, Context, Hooks
from duologue.workers.collect import CollectConfirmation, NotCollected


@dataclass
class Reminder:
    patient: str = "there"
    time: str = "tomorrow at nine"
    comes: bool | None = None


async def remind(context: Context[Reminder]) -> None:
    """Ask, note the answer, say goodbye and hang up."""
    data = context.data
    question = f"Hello {data.patient}, you have an appointment {data.time}. Will you come?"
    try:
        data.comes = await context.run(CollectConfirmation(question, again="Will you come? Please say yes or no."))
        await context.say("Good, see you then." if data.comes else "All right, I have cancelled it.")
    except NotCollected:
        await context.say("I will call again later.")
    context.end(reason="reminded")


async def agent(context: Context[Reminder]) -> Agent:
    """The carrier's custom parameters say who is called, and why."""
    given = context.info.parameters
    context.data = Reminder(given.get("patient", "there"), given.get("time", "tomorrow at nine"))
    return Agent(
        lambda request: "I can only remind you of your appointment.",
        name="reminder",
        hooks=Hooks(on_start=remind, on_resume=remind),
    )
