"""While models are downloaded, the server's address shows how far that is; then the real server answers there."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from duologue.models.failure import PullFailed
from duologue.server import loading, static_files
from duologue.server.listening import bind_socket, server_url
from duologue.server.loading import LoadingProgress, show_loading
from tests.limits import WAIT_S


@pytest.fixture(autouse=True)
def real_page(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page itself is what these tests are about, not the stand-in of the other tests."""
    monkeypatch.setattr(static_files, "WEB", Path(loading.__file__).parent / "web")


def fetch(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read().decode()


def shown_while_loading(work_may_end: threading.Event, fails: bool = False) -> dict[str, tuple[int, str]]:
    """What each address answers while models are being downloaded."""
    listening = bind_socket("127.0.0.1", 0)
    progress = LoadingProgress("Flight desk", total_bytes=100)
    answers: dict[str, tuple[int, str]] = {}

    def work() -> None:
        progress.done_bytes["a package"] = 40
        progress.step = "a package: fetching"
        assert work_may_end.wait(WAIT_S)
        if fails:
            raise PullFailed("the disk is full")

    def look() -> None:
        for path in ("", "loading.json", "readyz", "healthz", "loading.js", "style/loading.css"):
            answers[path] = fetch(server_url(listening) + path)
        work_may_end.set()

    opened = threading.Thread(target=look)
    try:
        asyncio.run(show_loading(listening, progress, work, opened.start))
    finally:
        opened.join()
        answers["after"] = (0, progress.problem)
        listening.close()
    return answers


def test_the_page_and_its_files_are_served_while_models_are_downloaded() -> None:
    answers = shown_while_loading(threading.Event())
    assert answers[""][0] == answers["loading.js"][0] == answers["style/loading.css"][0] == 200
    assert 'id="bar"' in answers[""][1]
    status = json.loads(answers["loading.json"][1])
    assert (status["name"], status["doneBytes"], status["totalBytes"]) == ("Flight desk", 40, 100)
    assert status["step"] == "a package: fetching"


def test_a_server_that_is_loading_is_healthy_and_not_ready() -> None:
    answers = shown_while_loading(threading.Event())
    assert answers["healthz"] == (200, "ok\n")
    assert answers["readyz"] == (503, "loading\n")


def test_the_socket_still_accepts_after_the_page_has_gone() -> None:
    listening = bind_socket("127.0.0.1", 0)

    async def twice() -> None:
        for _ in range(2):
            await show_loading(listening, LoadingProgress("x"), lambda: None, lambda: None)

    asyncio.run(twice())
    assert listening.fileno() != -1
    listening.close()


def test_a_failed_download_is_shown_on_the_page_and_then_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "PROBLEM_S", 0.01)
    with pytest.raises(PullFailed, match="the disk is full"):
        shown_while_loading(threading.Event(), fails=True)


def test_more_bytes_than_announced_are_never_shown() -> None:
    progress = LoadingProgress("x", total_bytes=10, done_bytes={"a": 8, "b": 8})
    assert progress.to_json()["doneBytes"] == 10
