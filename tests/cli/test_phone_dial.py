"""`duologue phone dial`: an agent calls a number, through a simulated carrier."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from duologue.cli.phone_dial import read_parameters
from duologue.core.errors import DuologueError
from duologue.lab.sim.call_script import Beep, Expect, HangUp, Listen, Wait
from duologue.lab.sim.carrier_network import CarrierNetwork
from duologue.lab.sim.loopback_server import open_socket, serving, url_of
from duologue.lab.sim.telephones import AnsweredBy, Telephone
from tests.cli.command_line import run
from tests.limits import WAIT_S
from tests.server.phone.network_calls import CALLER, OWN, behave

AGENT = """
from duologue import Agent, Context, Phrases, Request
from duologue.ears.scripted import ScriptedEars
from duologue.voice.scripted import ScriptedVoice

def brain(request: Request, context: Context) -> str:
    return "Hm."

voice = ScriptedVoice(char_ms=3)
agent = Agent(brain, ears=ScriptedEars(), voice=voice, profile="words", phrases=Phrases(greeting="Hello."))

def made(context: Context) -> Agent:
    greeting = f"Hello {context.info.parameters.get('name', '')}."
    return Agent(brain, ears=ScriptedEars(), voice=voice, profile="words", phrases=Phrases(greeting=greeting))
"""


async def dial(folder: Path, book: dict[str, Telephone], *args: str) -> tuple[int, str, str]:
    """Run the command against a simulated carrier."""
    (folder / "caller.py").write_text(AGENT)
    network = CarrierNetwork("twilio", book, lambda leg, scripted: behave(leg, scripted, book))
    free = open_socket()
    url = url_of(free)
    free.close()
    async with serving(lambda _: network.routes()) as api:
        secrets = {name.upper(): value for name, value in network.secrets.items()}
        environment = {**os.environ, **secrets, "PHONE_NUMBER": OWN, "PHONE_API_URL": api}
        command = [sys.executable, "-m", "duologue", "phone", "dial", "--agent", "caller:agent", "--url", url]
        process = await asyncio.create_subprocess_exec(
            *command,
            *("--port", url.rpartition(":")[2], *args),
            cwd=folder,
            env={**environment, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, problems = await asyncio.wait_for(process.communicate(), WAIT_S)
        await network.close()
        return process.returncode or 0, out.decode(), problems.decode()


@pytest.mark.alone
def test_a_call_is_shown_with_its_stages_and_its_words(tmp_path: Path) -> None:
    book = {CALLER: Telephone(steps=(Listen(), HangUp()))}
    made = ("--agent", "caller:made", "--parameter", "name=Ada")  # a function of the context
    code, out, problems = asyncio.run(dial(tmp_path, book, "--to", CALLER, *made))
    assert code == 0, out + problems
    assert all(stage in out for stage in ("dialling", "ringing", "talking", "completed"))
    assert "agent  Hello Ada." in out


@pytest.mark.alone
def test_a_machine_that_beeps_gets_the_message(tmp_path: Path) -> None:
    machine = Telephone(AnsweredBy.MACHINE, (Wait(200), Beep(900, 300), Listen(), Expect(over=True)))
    code, out, problems = asyncio.run(dial(tmp_path, {CALLER: machine}, "--to", CALLER, "--message", "Call us."))
    assert code == 0, out + problems
    assert all(stage in out for stage in ("screening", "message", "message left", "agent  Call us."))


@pytest.mark.alone
def test_a_busy_line_is_told_with_exit_code_1(tmp_path: Path) -> None:
    code, out, problems = asyncio.run(dial(tmp_path, {CALLER: Telephone(AnsweredBy.BUSY)}, "--to", CALLER))
    assert (code, "busy" in out) == (1, True), out + problems


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--on-machine", "dance"), "--on-machine must be message, hang_up or talk"),
        (("--on-machine", "message"), "needs --message"),
        ((), "set twilio_auth_token or telnyx_public_key"),
    ],
)
def test_a_problem_is_one_line(args: tuple[str, ...], told: str) -> None:
    done = run("phone", "dial", "--to", CALLER, "--agent", "x:y", "--url", "https://phone.example", *args)
    assert done.returncode == 1
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_parameters_are_names_and_values() -> None:
    assert read_parameters(["order=47=11", "name="]) == {"order": "47=11", "name": ""}
    with pytest.raises(DuologueError, match="NAME=VALUE"):
        read_parameters(["order"])
