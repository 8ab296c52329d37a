"""The panel's protocol with WebRTC beside the socket: a real aiortc client, moves, and offers that can't work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.webrtc_page import WebRtcPage
from duologue.ports.history import AgentSaid, UserSaid
from duologue.server.app import Server
from duologue.server.leases import Leases
from duologue.server.listening import bind_socket
from duologue.server.run import serving
from duologue.server.settings import Limits, ServerSettings, WebRtcSettings, many_at_one_address
from duologue.store.memory import MemoryStore
from tests.lines.webrtc.aiortc_client import AiortcClient, tone, unreachable
from tests.server.realtime.tone_agent import LONG, WORD_MS, tone_agent
from tests.server.running_server import Client, RunningServer, running_server

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
ON = WebRtcSettings(panel=True)


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


def run(
    talk: Callable[[RunningServer, Client], Awaitable[None]], hears: list[str], settings: WebRtcSettings = ON
) -> None:
    async def whole() -> None:
        async with running_server(lambda: tone_agent(hears=hears), webrtc=settings) as made:
            client = await made.connect()
            await client.begin("one")
            await talk(made, client)

    run_jumping(asyncio.wait_for(whole(), 60))


async def connected(client: Client) -> AiortcClient:
    """A peer connection that carries this client's sound."""
    peer, answers, moves = AiortcClient(), len(client.told("webrtc")), len(client.told("carrier", carrier="webrtc"))
    await client.send("webrtc", sdp=await peer.offer())
    answer = await client.expect("webrtc", after=answers)
    await peer.accept(answer["sdp"])
    await client.expect("carrier", after=moves, carrier="webrtc")
    return peer


def test_a_conversation_moves_to_webrtc_and_back_in_the_middle_of_a_reply_without_a_lost_word() -> None:
    async def talk(made: RunningServer, client: Client) -> None:
        peer = await connected(client)
        try:
            peer.microphone.pcm += tone(600, 220)
            heard = await client.expect("caption", role="assistant", final=True)
            assert heard["text"] == "You said good morning."
            assert client.frames == []  # no sound came over the socket
            peer.microphone.pcm += tone(600, 220)
            await client.until(lambda: any(told["ms"] > 1_000 for told in client.told("heard")))
            peer.sender.replaceTrack(None)  # no more packets
            told = await client.expect("carrier", carrier="socket")
            assert 900 < told["missedMs"] < 5_000
            await client.expect("caption", role="assistant", final=True, after=1)
        finally:
            await peer.close()
        assert client.told("caption", role="assistant", final=True)[1]["text"].split()[-1] == "word40."
        over_socket_ms = sum(len(pcm) for _, _, pcm in client.frames) // 48
        over_peer_ms = client.told("heard")[-1]["ms"]
        assert client.told("play", action="begin")[0]["ms"] == over_peer_ms  # it goes on where it was heard
        assert over_peer_ms + over_socket_ms == 40 * WORD_MS

    run(talk, ["good morning", "tell me a story"])


def test_a_reply_is_interrupted_over_webrtc_and_cut_where_it_was_heard() -> None:
    async def talk(made: RunningServer, client: Client) -> None:
        peer = await connected(client)
        try:
            peer.microphone.pcm += tone(600, 220)
            await client.until(lambda: any(told["ms"] > 600 for told in client.told("heard")))
            peer.microphone.pcm += tone(600, 220)
            await client.expect("caption", role="assistant", final=True, after=1)
        finally:
            await peer.close()
        first = client.told("caption", role="assistant", final=True)[0]
        assert 5 <= len(first["text"].split()) < 40

    run(talk, ["tell me a story", "stop please now"])


def test_a_new_peer_connection_in_the_middle_of_a_reply_loses_no_sample_and_carries_the_next_turn() -> None:
    """That is how a page restarts ICE: it offers another connection for the same conversation."""

    async def talk(made: RunningServer, client: Client) -> None:
        former = await connected(client)
        newer = AiortcClient()
        try:
            former.microphone.pcm += tone(600, 220)
            await client.until(lambda: any(told["ms"] > 1_000 for told in client.told("heard")))
            await client.send("webrtc", sdp=await newer.offer())
            await newer.accept((await client.expect("webrtc", after=1))["sdp"])
            await client.expect("caption", role="assistant", final=True)
            await client.expect("carrier", after=1, carrier="webrtc")
            over_peer_ms = client.told("play", action="begin")[0]["ms"]
            over_socket_ms = sum(len(pcm) for _, _, pcm in client.frames) // 48
            assert over_peer_ms + over_socket_ms == 40 * WORD_MS
            newer.microphone.pcm += tone(600, 220)
            await client.expect("caption", after=1, role="assistant", final=True)
            assert sum(len(pcm) for _, _, pcm in client.frames) // 48 == over_socket_ms, "over WebRTC again"
            assert former.connection.connectionState == "closed"
        finally:
            await former.close()
            await newer.close()
        answers = [told["text"] for told in client.told("caption", role="assistant", final=True)]
        assert (len(answers[0].split()), answers[1]) == (40, "You said thank you.")
        assert client.told("error") == []

    run(talk, ["tell me a story", "thank you"])


@asynccontextmanager
async def node(
    name: str, store: MemoryStore, hears: list[str], dies: bool = False, script: dict[str, object] | None = None
) -> AsyncIterator[tuple[Server, str]]:
    """A server that shares a store with others, and its address. If it dies, nothing is left to be stopped."""
    listening = bind_socket("127.0.0.1", 0)
    limits = many_at_one_address(Limits(drain_s_max=0.05), 100)
    leases = Leases(store, name, ttl_ms=3_000)
    settings = ServerSettings(port=0, webrtc=ON, limits=limits)
    server = Server(lambda: tone_agent(script, hears=hears), settings, leases=leases)
    await leases.open(server.conversations)
    async with serving(server, listening):
        yield server, f"http://127.0.0.1:{listening.getsockname()[1]}/"
        if not dies:
            await server.conversations.drain()
            await leases.close()


async def moved(page: WebRtcPage, first: Server, second_url: str, dies: bool) -> tuple[WebRtcPage, dict[str, Any]]:
    """Lose this page in the middle of an answer, and perhaps its server. Returns the page as it comes back to another
    server, and what it had heard last."""
    await page.vanish()
    if dies:
        first.conversations.crash()
    heard, known = page.told("heard")[-1], page.told("conversation")[-1]
    key = (page.told("key") or [known])[-1]["key"]
    back = WebRtcPage()
    await back.open(second_url, conversation=known["conversation"], key=key, played={**heard, "chunk": 0})
    return back, heard


@pytest.mark.parametrize("dies", [False, True], ids=["its server goes on", "its server dies"])
def test_an_answer_over_webrtc_goes_on_at_another_server_from_the_sentence_that_was_cut(dies: bool) -> None:
    sentences = [f"Part {number} of the story ends here." for number in range(1, 7)]
    script: dict[str, object] = {"tell me a story": " ".join(sentences)}

    async def whole() -> None:
        loop = asyncio.get_running_loop()
        store = MemoryStore(lambda: round(loop.time() * 1000))
        hears = ["tell me a story"]
        async with (
            node("a", store, hears, dies, script) as (first, first_url),
            node("b", store, hears, script=script) as (second, second_url),
        ):
            page = WebRtcPage()
            await page.open(first_url)
            page.microphone.pcm += tone(600, 220, 24_000)
            await page.until(lambda: bool(page.told("heard")) and page.told("heard")[-1]["ms"] > 2_000)
            back, cut = await moved(page, first, second_url, dies)
            await back.expect("caption", after=1, role="assistant", final=True)
            (served,) = second.conversations.served.values()
            heard, again = [item.text for item in served.conversation.history if isinstance(item, AgentSaid)]
            whole_ones = cut["ms"] // (7 * WORD_MS)
            assert heard.split() == " ".join(sentences).split()[: cut["ms"] // WORD_MS]
            assert again == " ".join(sentences[whole_ones:]), "no word is lost, and no whole sentence is said twice"
            assert 0 < whole_ones < len(sentences) - 1
            assert back.over_socket == {}, "its sound comes over WebRTC again"
            await back.close()

    run_jumping(asyncio.wait_for(whole(), 60))


@pytest.mark.parametrize("dies", [False, True], ids=["its server goes on", "its server dies"])
def test_a_conversation_over_webrtc_moves_to_another_server_over_webrtc_without_a_lost_word(dies: bool) -> None:
    """A third turn then goes over the socket of the new server."""
    hears = ["good morning", "tell me a story", "thank you"]

    async def whole() -> None:
        loop = asyncio.get_running_loop()
        store = MemoryStore(lambda: round(loop.time() * 1000))
        async with node("a", store, hears, dies) as (first, first_url), node("b", store, hears) as (second, second_url):
            page = WebRtcPage()
            await page.open(first_url)
            page.microphone.pcm += tone(600, 220, 24_000)
            await page.expect("caption", role="assistant", final=True)
            page.microphone.pcm += tone(600, 220, 24_000)
            await page.until(lambda: page.told("heard")[-1]["ms"] > 1_500)
            back, heard = await moved(page, first, second_url, dies)
            back.microphone.pcm += tone(600, 220, 24_000)
            await back.expect("caption", role="user", final=True, text="thank you")
            await back.expect("caption", role="assistant", final=True, text="You said thank you.")
            assert back.over_socket == {}, "its sound comes over WebRTC again"
            await back.send("carrier", carrier="socket")
            await back.until(lambda: back.carrier == "socket")
            await back.send("type", text="bye", id="1")
            await back.until(lambda: sum(back.over_socket.values()) == 3 * WORD_MS)
            (served,) = second.conversations.served.values()
            said = [item.text for item in served.conversation.history if isinstance(item, AgentSaid | UserSaid)]
            story = LONG.split()[: heard["ms"] // WORD_MS]
            assert said[:5] == [
                "good morning", "You said good morning.", "tell me a story", " ".join(story), "thank you"
            ]  # fmt: skip
            assert said[5:7] == ["You said thank you.", "bye"]
            (caption,) = back.told("caption", final=True, text=" ".join(story))
            assert caption["unheard"].split()[-1] == "word40.", "what wasn't heard can still be read"
            await back.close()

    run_jumping(asyncio.wait_for(whole(), 60))


def test_ice_that_fails_is_reported_the_sound_stays_on_the_socket_and_other_calls_go_on() -> None:
    async def talk(made: RunningServer, client: Client) -> None:
        other = await made.connect()
        await other.begin("two")
        working, failing = await connected(other), AiortcClient()
        try:
            await client.send("webrtc", sdp=unreachable(await failing.offer()))
            answer = await client.expect("webrtc")
            await failing.accept(unreachable(answer["sdp"]))
            for _ in range(3):  # the other call talks while this one can't connect
                answers = len(other.told("caption", role="assistant", final=True))
                working.microphone.pcm += tone(600, 220)
                await other.expect("caption", after=answers, role="assistant", final=True)
            told = await client.expect("error")
            assert (told["code"], told["reason"]) == ("webrtc_refused", "ice_failed")
            assert told["message"] == "webrtc: WebRTC could not be connected"
            assert client.closed is None
            await client.send("type", text="hello")
            await client.expect("caption", role="assistant", final=True)
            assert client.frames, "the answer came over the socket"
            assert client.told("carrier") == []
            again = await connected(client)  # a later attempt may work
            await again.close()
            assert other.told("error") == other.told("carrier", carrier="socket") == []
            assert other.frames == []
        finally:
            await working.close()
            await failing.close()

    run(talk, ["good morning", "one more thing", "that is all"])


def refusal(sdp: str, settings: WebRtcSettings = ON) -> dict[str, Any]:
    told: dict[str, Any] = {}

    async def talk(made: RunningServer, client: Client) -> None:
        await client.send("webrtc", sdp=sdp)
        told.update(await client.expect("error"))
        await client.send("type", text="hello")
        await client.expect("caption", role="assistant", final=True)  # the conversation goes on over its socket

    run(talk, [], settings)
    return told


@pytest.mark.parametrize(
    ("sdp", "reason"),
    [
        ("", "invalid_offer"),
        ("v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n", "no_audio"),
        ("v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=rtpmap:0 PCMU/8000\r\n", "no_opus"),
    ],
)
def test_an_offer_that_cannot_work_is_refused_and_the_conversation_goes_on(sdp: str, reason: str) -> None:
    told = refusal(sdp)
    assert (told["code"], told["reason"]) == ("webrtc_refused", reason)


def test_a_server_without_webrtc_says_so() -> None:
    assert refusal("v=0", WebRtcSettings(enabled=False))["reason"] == "no_webrtc"


def test_a_client_is_told_of_webrtc_only_if_other_machines_can_reach_the_server() -> None:
    async def ready(settings: WebRtcSettings) -> Any:
        async with running_server(webrtc=settings) as made:
            client = await made.connect()
            await client.hello("one")
            return (await client.expect("ready"))["webrtc"]

    assert run_jumping(ready(WebRtcSettings())) is None
    assert run_jumping(ready(ON)) == {"iceServers": []}
    assert run_jumping(ready(WebRtcSettings(enabled=False, panel=True))) is None
