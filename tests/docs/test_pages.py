"""The code and the commands that the pages print work."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import duologue
from duologue import Agent, Conversation
from duologue.core.effects import OpenSession
from duologue.core.leaves import Link, Timer, User
from duologue.ears.local import LocalEars
from duologue.flows import InvalidFlows, parse_flows
from duologue.flows.load import read_text
from duologue.observe.prices import read_prices
from duologue.ports.history import UserSaid
from duologue.testing import Call, ScriptedBrain
from duologue.testing.evals.suite import load_suite
from duologue.testing.scenario import InvalidScenario, load
from tests.brains.chat_server import ChatServer, says
from tests.docs.printed import ROOT, check_commands, check_extras, page, python_blocks
from tests.docs.test_cookbook import conversation_with, heard, until
from tests.needs import needs_model

pytest_plugins = ["pytester"]
PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))


@pytest.fixture
def models() -> Path:
    """The folder of the speech models. Requested before `pytester`, which changes the home folder."""
    folder, *_ = [needs_model(name).parent for name in ("silero-vad", "moonshine-tiny", "smart-turn", "espeak-ng")]
    return folder


@pytest.mark.parametrize("name", PAGES)
def test_every_command_and_extra_that_a_page_prints_exists(name: str) -> None:
    check_commands(page(name))
    check_extras(page(name))


@pytest.mark.parametrize("name", PAGES)
def test_every_attribute_of_a_conversation_and_a_call_that_a_page_names_exists(name: str) -> None:
    for owner, kind in (("conversation", Conversation), ("call", Call)):
        for attribute in re.findall(
            rf"(?<![\w.\"]){owner}\.([a-z_]+)(?![.\w]*\.(?:create|delete|truncate|item))", page(name)
        ):
            if attribute not in _NOT_ATTRIBUTES:
                source = "".join(inspect.getsource(one) for one in kind.__mro__ if one is not object)
                assert hasattr(kind, attribute) or f"self.{attribute}" in source, attribute


_NOT_ATTRIBUTES = ("item", "jsonl", "words", "yaml", "html", "log", "svg")  # events of Realtime, files


@pytest.mark.parametrize("name", PAGES)
def test_every_file_of_the_project_that_a_page_names_exists(name: str) -> None:
    """Paths are from the root, or from src/duologue; names without a folder are the reader's own files."""
    for path in re.findall(
        r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|yaml|toml|json|js|css|html)|tests/[\w/]+|examples/[\w/]+)`", page(name)
    ):
        places = (ROOT / path, ROOT / "src" / "duologue" / path, ROOT / "src" / "duologue" / "server" / "web" / path)
        assert any(place.exists() for place in places), path


@pytest.mark.parametrize("name", PAGES)
def test_everything_that_the_code_of_a_page_imports_exists(name: str) -> None:
    for block in python_blocks(page(name)):
        if "--8<--" in block or "from my_agent import" in block:
            continue
        tree = ast.parse("async def main():\n" + indent(block, "    "))  # a block may await
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                exec(ast.unparse(node), {})


def test_every_public_name_is_in_the_reference() -> None:
    reference = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md"))
    named = set(re.findall(r"(?:^:::|`)[^`\n]*?\b(\w+)`?$|`duologue\.(\w+)`", reference, re.MULTILINE))
    missing = set(duologue.__all__) - {name for pair in named for name in pair} - {"__version__"}
    assert not missing


# -- The quickstart


@pytest.mark.usefixtures("models")
def test_the_agent_of_the_quickstart_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    agent_code, other_llm, _ = python_blocks(page("quickstart"))

    async def main() -> None:
        async with ChatServer(says("We are open ", "from nine to six.")) as server:
            monkeypatch.setenv("OPENAI_API_KEY", "secret")
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("NO_PROXY", "127.0.0.1")
            seen: dict[str, object] = {}
            exec(agent_code, seen)
            exec(other_llm, seen)
            agent = seen["agent"]
            assert isinstance(agent, Agent)
            async with conversation_with(agent) as conversation:
                conversation.type("when are you open")
                await until(lambda: heard(conversation) == "We are open from nine to six.")
            assert server.bodies[0]["tools"][0]["function"]["name"] == "opening_hours"

    asyncio.run(main())


def test_the_test_of_the_quickstart_passes_as_printed(
    models: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_code, _, test_code = python_blocks(page("quickstart"))
    monkeypatch.setenv("OPENAI_API_KEY", "any text")
    monkeypatch.setenv("DUOLOGUE_MODELS", str(models))  # the subprocess has another home
    pytester.makepyfile(my_agent=agent_code, test_my_agent=test_code)
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=1)


# -- Guides and concepts


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("name", ["speech", "turn-taking", "latency"])
def test_the_code_in_the_pages_on_speech_runs(name: str) -> None:
    async def host(request: object) -> AsyncIterator[str]:
        yield "Hello."

    seen: dict[str, object] = {"Agent": Agent, "host": host, "brain": host, "ears": LocalEars()}
    for block in python_blocks(page(name)):
        exec(block, seen)


def test_the_code_in_the_page_on_phrases_runs() -> None:
    (block,) = python_blocks(page("phrases"))
    seen: dict[str, Any] = {"brain": lambda request: "Hello."}
    exec(block, seen)
    assert seen["agent"].says("working", 1) == "Just a second."


def test_the_machine_in_the_page_on_design_runs_as_printed() -> None:
    (block,) = python_blocks(page("design"))
    lines = block.splitlines()
    seen: dict[str, object] = {}
    exec("\n".join(lines[:5]), seen)
    assert seen["effects"] == (OpenSession(session=1, attempt=0),)
    exec("\n".join(lines[5:]), seen)
    state = seen["state"]
    assert (state.link, state.user) == (Link.UP, User.TALKING)  # type: ignore[attr-defined]
    deadline = seen["next_deadline"](state)  # type: ignore[operator]
    assert (deadline.timer, deadline.due) == (Timer.COMMIT, 32_000)


@pytest.mark.parametrize("name", ["grammars", "dialogue"])
def test_the_code_in_the_pages_on_dialogue_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for block in python_blocks(page(name)):
        exec(block, {})


def test_the_readings_in_the_page_on_grammars_are_printed_as_they_are() -> None:
    (block,) = python_blocks(page("grammars"))
    lines = block.splitlines()
    seen: dict[str, object] = {}
    exec("\n".join(lines[:3]), seen)
    for call, printed in pairwise(lines):
        if call.startswith("read(") and printed.startswith("# "):
            assert repr(eval(call, seen)) == printed.removeprefix("# ")


def test_the_code_in_the_testing_page_runs(pytester: pytest.Pytester) -> None:
    first, live, scripted = python_blocks(page("testing"))
    exec(live, {})
    pytester.makepyfile(test_page=first + "\n\ndef test_scripted():\n" + indent(scripted, "    "))
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_the_code_in_the_page_on_brains_works() -> None:
    code, judging = python_blocks(page("brains"))
    seen: dict[str, object] = {}
    exec(code, seen)
    exec(judging, seen)
    with Call(seen["agent"]) as call:  # type: ignore[arg-type]
        call.user("a table please").expect_called("book_table", people=2).expect_heard("Done: table 7, for 2.")
    judge = seen["Cashier"]().completeness  # type: ignore[operator]
    texts = ("a small", "I'd like a", "hello")
    assert [judge("call", [UserSaid(1, text)]).value for text in texts] == ["complete", "open", "unknown"]


def test_the_code_in_the_page_on_tools_works() -> None:
    seen: dict[str, object] = {"brain": ScriptedBrain(["Hello."])}
    for block in python_blocks(page("tools")):
        exec(block, seen)
    assert isinstance(seen["agent"], Agent)
    assert len(seen["agent"].sources) == 2
    assert Agent(ScriptedBrain([]), tools=[seen["research"], seen["book_table"]]).workers


def pizza() -> str:
    """The flow that the page on flows begins with."""
    return str(re.findall(r"```yaml\n(version: 1\n.*?)```", page("flows"), re.DOTALL)[0])


def test_the_flow_in_the_page_on_flows_is_right(pytester: pytest.Pytester) -> None:
    text = page("flows")
    stories = re.findall(r"```yaml\n(flows: pizza.yaml\n.*?)```", text, re.DOTALL)[0]
    functions = next(block for block in python_blocks(text) if "can_be_baked" in block)
    pytester.makefile(".yaml", pizza=pizza())
    pytester.path.joinpath("pizza.stories.yaml").write_text(stories, encoding="utf-8")
    pytester.makepyfile(pizza=functions)
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_errors_in_the_page_on_flows_are_real() -> None:
    broken = pizza().replace("collect: size", "collect: sise").replace("on_no:", "on_not:")
    with pytest.raises(InvalidFlows) as caught:
        parse_flows(broken, "pizza.yaml")
    warned = pizza().replace("      - action: send_order", "      - end: Bye\n      - action: send_order")
    (warning,) = read_text(warned, "pizza.yaml").warnings
    assert f"```text\n{caught.value}\n{warning}\n```" in page("flows")


def test_the_errors_in_the_page_on_scenarios_are_real(tmp_path: Path) -> None:
    file = tmp_path / "flights.yaml"
    file.write_text(
        "name: x\nbrain:\n  - Hello\n  - sai: hi\ncall:\n  - user: hi\n  - interrupts: no\n    after: 700\n"
        "  - expect_phase: listning\n",
        encoding="utf-8",
    )
    with pytest.raises(InvalidScenario) as caught:
        load(file)
    assert f"```text\n{str(caught.value).replace(f'{tmp_path}/', '')}\n```" in page("scenarios")


def test_the_suite_in_the_page_on_evals_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", page("evals"), re.DOTALL)
    (tmp_path / "suite.yaml").write_text(block)
    (case,) = load_suite(tmp_path / "suite.yaml").cases
    assert (case.name, case.runs, len(case.rubric)) == ("Books a table", 3, 2)


def test_the_prices_in_the_page_on_observability_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", page("observability"), re.DOTALL)
    (tmp_path / "prices.toml").write_text(block)
    assert read_prices(tmp_path / "prices.toml").currency == "EUR"
