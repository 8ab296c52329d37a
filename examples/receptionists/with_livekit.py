"""The receptionist with LiveKit Agents 1.8: `python with_livekit.py dev`, next to a LiveKit server."""

from dataclasses import dataclass

from livekit.agents import Agent, AgentServer, AgentSession, JobContext, RunContext, cli, function_tool


@dataclass
class Visit:
    guest: str = ""
    host: str = ""


class Receptionist(Agent):
    def __init__(self) -> None:
        super().__init__(instructions="You receive visitors.")

    async def on_enter(self) -> None:
        await self.session.say("Welcome! Whom would you like to see?")

    @function_tool
    async def find_host(self, context: RunContext[Visit], name: str) -> str:
        """Find a colleague whom the visitor wants to see."""
        context.userdata.host = name
        return f"{name} is in room 12"

    @function_tool
    async def sign_in(self, context: RunContext[Visit], guest: str) -> str:
        """Sign the visitor in."""
        context.userdata.guest = guest
        return f"{guest} is signed in to see {context.userdata.host or 'no one yet'}"


server = AgentServer()


@server.rtc_session()
async def entrypoint(ctx: JobContext) -> None:
    session = AgentSession[Visit](
        userdata=Visit(),
        stt="deepgram/nova-3",
        llm="openai/gpt-4o-mini",
        tts="cartesia/sonic-3:71a7ad14-091c-4e8e-a314-022ece01c121",
    )
    await session.start(agent=Receptionist(), room=ctx.room)


if __name__ == "__main__":
    cli.run_app(server)
