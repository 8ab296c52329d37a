"""Starting conversations on a real server: limits by address, and conversations in which nothing was said."""

from __future__ import annotations

from duologue.fairness.bucket import Rate

from .running_server import RunningServer, serve, talk


def test_a_conversation_in_which_nothing_is_said_ends_and_says_why() -> None:
    async def script(made: RunningServer) -> None:
        silent, spoken = await made.connect(), await made.connect()
        await spoken.begin("bob")
        await talk(spoken, "hello")
        await silent.begin("alice")
        told = await silent.expect("ended")
        assert told["reason"].startswith("nothing was said within ")
        assert not spoken.told("ended")
        assert len(made.conversations.served) == 1

    serve(script, unspoken_s_max=0.3)


def test_without_its_client_it_ends_sooner() -> None:
    async def script(made: RunningServer) -> None:
        client = await made.connect()
        await client.begin("alice")
        client.vanish()
        await made.until(lambda: not made.conversations.served)

    serve(script, unspoken_away_s_max=0.1)


def test_one_address_cant_fill_the_server_with_conversations_in_which_nothing_is_said() -> None:
    async def script(made: RunningServer) -> None:
        for number in range(3):
            client = await made.connect()
            await client.begin(f"seat {number}")
            await client.close()
        late = await made.connect()
        await late.hello("late")
        await late.send("start")
        told = await late.expect("error", code="start_refused")
        assert told["message"].startswith("Your address has 3 conversations in which nothing was said yet")
        assert (await late.expect("ended"))["canRestart"]
        assert len(made.conversations.served) == 3
        metrics = (await made.get("/metrics")).body.decode()
        assert 'duologue_refused_total{limit="unspoken"} 1\n' in metrics

    serve(script, unspoken_per_address_max=3)


def test_starts_have_a_rate_by_address_and_a_made_up_header_lifts_nothing() -> None:
    async def script(made: RunningServer) -> None:
        refused = []
        for number in range(4):
            client = await made.connect(additional_headers={"X-Forwarded-For": f"9.9.9.{number}"})
            await client.hello(f"seat {number}")
            await client.send("start")
            await client.until(lambda client=client: client.told("conversation") or client.told("ended"))  # type: ignore[misc]
            refused += [told["message"] for told in client.told("error")]
        assert refused == ["Your address starts conversations too often: try again in 60 s."] * 2

    serve(script, starts=Rate(1, 60_000, 2))


def test_behind_a_trusted_proxy_callers_are_told_apart() -> None:
    async def script(made: RunningServer) -> None:
        for number in range(4):
            client = await made.connect(additional_headers={"X-Forwarded-For": f"9.9.9.{number}"})
            await client.begin(f"seat {number}")

    serve(script, starts=Rate(1, 60_000, 1), trusted_proxies=("127.0.0.1",))


def test_on_a_full_server_the_oldest_without_a_word_gives_way() -> None:
    async def script(made: RunningServer) -> None:
        made.conversations.starts.give_way_s_min = 0.0
        hops = [{"X-Forwarded-For": f"9.9.9.{number}"} for number in range(3)]
        first, second, third = [await made.connect(additional_headers=hop) for hop in hops]
        await first.begin("alice")
        await second.begin("bob")
        await talk(second, "hello")
        await third.begin("carol")
        assert (await first.expect("ended"))["reason"] == "others needed the place, and nothing was said"
        assert not second.told("ended")

    serve(script, conversations_max=2, trusted_proxies=("127.0.0.1",))
