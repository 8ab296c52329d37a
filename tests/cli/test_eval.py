"""`duologue eval` against a chat-completions server that plays both models."""

from __future__ import annotations

import json
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="pip install 'duologue[llm]'")

from tests.cli.command_line import Done, run

AGENT = """
from duologue import Agent, ToolCall, tool

@tool
def book_table(people: int) -> str:
    '''Book a table.'''
    return f"booked for {people}"

def brain(request):
    if request.outputs:
        return "Your table is booked."
    return [ToolCall("book_table", {"people": 2})] if "table" in request.text else "Goodbye."

agent = Agent(brain, tools=[book_table])
"""
SUITE = """
name: Desk
cases:
  - name: Books
    goal: Book a table.
    expect: {called: [{tool: book_table, with: {people: 2}}]}
    rubric: [The table is booked.]
"""


class Models(BaseHTTPRequestHandler):
    """A caller that asks for a table and then is done, and a judge that says what `verdict` is."""

    verdict = ""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if body["model"] == "judge":
            text = self.verdict
        else:
            heard = [message["content"] for message in body["messages"] if message["role"] == "user"]
            text = "Thank you. [done]" if "booked" in heard[-1] else "A table please."
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for delta, finish in (({"content": text}, None), ({}, "stop")):
            chunk = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "eval_desk.py").write_text(AGENT)
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Models, "verdict", json.dumps({"verdicts": [{"line": 1, "met": True, "why": "yes"}]}))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Models)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def evaluate(url: str, *options: str) -> Done:
    given = ("--agent", "eval_desk:agent", "--caller", "caller", "--llm-url", url)
    return run("eval", "suite.yaml", *given, *options, env={"COLUMNS": "300", "NO_COLOR": "1"})


def test_a_suite_that_passes_is_reported_in_every_form(url: str, tmp_path: Path) -> None:
    done = evaluate(url, "--judge", "judge", "--runs", "2", "--junit", "out/j.xml", "--html", "out/page.html", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["passed"], data["cases"][0]["runs_passed"]) == (True, 2)
    assert ET.fromstring((tmp_path / "out" / "j.xml").read_text()).attrib["tests"] == "2"
    page = (tmp_path / "out" / "page.html").read_text()
    assert page.count("<iframe") == 2


def test_a_judge_that_answers_nonsense_fails_the_suite_and_is_counted(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Models, "verdict", "What a nice call.")
    done = evaluate(url, "--judge", "judge")
    assert done.returncode == 1
    assert "failed  Books: 0 of 1 runs (0% to 79% with 95 % confidence)" in done.stdout
    assert "2 answers of the judge could not be used" in done.stdout


def test_a_wrong_suite_is_refused_with_all_its_lines(url: str, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("case: 1\ncases: [{gaol: x}]\n")
    done = evaluate(url, "--judge", "judge")
    assert done.returncode == 2
    assert [line.partition(".yaml:")[2].partition(":")[0] for line in done.stderr.splitlines()] == ["1", "2", "2"]


def test_a_rubric_needs_a_judge_and_a_case_must_exist(url: str) -> None:
    assert "needs --judge MODEL" in evaluate(url).stderr
    assert "the suite has no case 'x'; it has Books" in evaluate(url, "--judge", "judge", "--case", "x").stderr
