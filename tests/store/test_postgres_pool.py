"""The pool: never more connections than allowed, a bounded wait, and only idle connections are reused."""

from __future__ import annotations

import asyncio

import pytest

from duologue.fairness.counted_pools import all_counts
from duologue.fairness.owner import context_of
from duologue.ports.store import StoreFailed
from duologue.store import postgres_pool
from duologue.store.postgres import PostgresStore
from duologue.store.postgres_errors import read_address
from duologue.store.postgres_pool import Pool
from duologue.testing.postgres import PrivatePostgres
from tests.store.store_places import PostgresPlace, claimed, written


async def test_connections_that_were_closed_while_idle_are_replaced(pg: PostgresPlace) -> None:
    store = await pg.store()
    lease = await claimed(store)
    await asyncio.gather(*(store.read("call") for _ in range(10)))
    await pg.run_sql(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE application_name = 'duologue' AND pid <> pg_backend_pid()"
    )
    assert await written(store, lease, 0, words=1) == 1


async def test_no_more_connections_are_made_than_allowed(pg: PostgresPlace) -> None:
    await pg.store()
    before = all_counts()["store"]
    url = pg.server.url + "&application_name=counted"
    store = PostgresStore(url, schema=pg.schema, connections_max=3)
    await store.open()
    await asyncio.gather(*(claimed(store, f"call {number}") for number in range(30)))
    found = await pg.run_sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counted'")
    assert 1 <= found[0][0] <= 3
    assert all_counts()["store"].done >= before.done + 30
    await store.close()
    assert all_counts()["store"] == before, "the other store is still open"
    with pytest.raises(StoreFailed, match="the store is closed"):
        await store.read("call")


async def test_a_caller_waits_for_a_busy_connection_only_so_long(
    postgres: PrivatePostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_pool, "WAIT_S_MAX", 0.01)
    pool = Pool(read_address(postgres.url), {}, connections_max=1)
    taken = await pool.take()
    with pytest.raises(StoreFailed, match=r"all connections were busy for 0\.01 s, nothing was written"):
        await pool.take()
    await pool.give_back(taken)
    assert await pool.take() is taken
    await pool.give_back(taken)
    await pool.close()
    assert taken.closed


async def test_a_connection_in_a_transaction_is_not_reused(postgres: PrivatePostgres) -> None:
    pool = Pool(read_address(postgres.url), {}, connections_max=1)
    connection = await pool.take()
    await connection.execute("BEGIN")
    await pool.give_back(connection)
    assert connection.closed
    other = await pool.take()
    assert other is not connection
    await pool.give_back(other)
    await pool.close()


async def test_the_settings_hold_on_every_connection(postgres: PrivatePostgres) -> None:
    pool = Pool(read_address(postgres.url), {"statement_timeout": 1_234}, connections_max=1)
    connection = await pool.take()
    assert await (await connection.execute("SHOW statement_timeout")).fetchone() == ("1234ms",)
    await pool.give_back(connection)
    await pool.close()


async def test_conversations_take_turns_for_a_busy_connection(postgres: PrivatePostgres) -> None:
    """Each conversation waits only for its own transactions, also if another one came first."""
    pool = Pool(read_address(postgres.url), {}, connections_max=1)
    order: list[str] = []

    async def transact(conversation: str) -> None:
        connection = await pool.take(conversation)
        order.append(conversation)
        await connection.execute("SELECT 1")
        await pool.give_back(connection)

    first = await pool.take("greedy")
    waiting = [asyncio.create_task(transact("greedy")) for _ in range(20)]
    waiting += [asyncio.create_task(transact("honest")) for _ in range(2)]
    await asyncio.sleep(0)
    await pool.give_back(first)
    await asyncio.gather(*waiting)
    assert order[:4] == ["greedy", "honest", "greedy", "honest"]
    await pool.close()


async def test_one_conversation_gets_at_most_half_of_the_connections(postgres: PrivatePostgres) -> None:
    pool = Pool(read_address(postgres.url), {}, connections_max=4)
    greedy = [asyncio.create_task(pool.take("greedy")) for _ in range(4)]
    taken = [await greedy[0], await greedy[1]]
    other = await pool.take("honest")  # at once: connections are left
    assert [task.done() for task in greedy] == [True, True, False, False]
    for connection in (*taken, other):
        await pool.give_back(connection)
    for task in greedy[2:]:
        await pool.give_back(await task)
    await pool.close()


async def test_a_transaction_waits_in_the_queue_of_its_tasks_conversation(postgres: PrivatePostgres) -> None:
    pool = Pool(read_address(postgres.url), {}, connections_max=1)
    first = await pool.take()
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(pool.take(), context=context_of(name)) for name in ("a", "a", "b")]
    await asyncio.sleep(0)
    await pool.give_back(first)
    await pool.give_back(await tasks[0])
    await asyncio.wait(tasks[1:], return_when=asyncio.FIRST_COMPLETED)
    assert [task.done() for task in tasks] == [True, False, True]
    await pool.give_back(await tasks[2])
    await pool.give_back(await tasks[1])
    await pool.close()


async def test_a_conversation_with_too_much_waiting_work_is_told_so(
    postgres: PrivatePostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_pool, "EACH_WAITING_MAX", 2)
    pool = Pool(read_address(postgres.url), {}, connections_max=1)
    first = await pool.take("greedy")
    waiting = [asyncio.create_task(pool.take("greedy")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(StoreFailed, match=r"can't keep up: .*too much work waiting \(limit: 2\); try again later"):
        await pool.take("greedy")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await pool.give_back(first)
    await pool.give_back(await pool.take("honest"))  # cancelled waits keep no place
    await pool.close()
