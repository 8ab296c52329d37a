"""The parent of several server processes: it listens, gives each connection to a process, and replaces processes that
have died.

It serves nothing itself: no agent, no models, no conversations. Rule: `supervision` decides which processes are
started, stopped and replaced, and `directory` decides which process gets a client; this module only does what they say.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Sequence

from duologue.observe.metric_sums import MetricSums

from . import process_messages as pm
from . import supervision as sv
from .channel import VARIABLE, Channel, channel_pair
from .directory import Directory, Loads

LOG = logging.getLogger("duologue.server")
TICK_S = 1.0
METRICS_S_MAX = 1.0  # a process that takes longer is counted with what it reported last
CALLS_S = 10.0  # lists of calls are shared this long after the last operator has left
ACCEPTS_MAX = 64  # connections that are accepted at a time
PEEKED_BYTES = 8_192


class Parent:
    """The parent process. `command` is the command line that starts a server process. That process finds its end of the
    channel in the environment variable `VARIABLE`. `announce` prints the lines that tell the user what is served."""

    def __init__(
        self,
        listening: socket.socket,
        command: Sequence[str],
        count: int,
        *,
        url: str,
        token: str,
        announce: Callable[[Sequence[str]], None],
    ) -> None:
        self._listening = listening
        self._command = tuple(command)
        self._url, self._token = url, token
        self._announce = announce
        self._state = sv.supervise(count)
        self._directory = Directory()
        self._loads = Loads(count)
        self._sums = MetricSums()
        self._channels: dict[int, Channel] = {}
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._lives: set[asyncio.Task[None]] = set()
        self._started = self._turn = 0
        self._lines: tuple[str, ...] = ()
        self._is_accepting = False
        self._token_key = secrets.token_hex(32)
        self._folder = ""
        self._metrics_for: list[tuple[int, int]] = []  # who asked: process and question
        self._metrics_from: set[int] = set()  # those that haven't answered
        self._metrics_alarm: asyncio.TimerHandle | None = None
        self._calls_for: set[int] = set()  # processes whose operators see the list of calls
        self._are_calls_shared = False
        self._limits_for: set[int] = set()  # processes that want to know what the others grant to addresses
        self._done: asyncio.Future[int] | None = None

    async def run(self) -> int:
        """Run until all processes have ended. Returns the exit code."""
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        self._listening.setblocking(False)
        self._folder = tempfile.mkdtemp(prefix="duologue-")
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lambda: self._post(sv.StopAsked()))
        ticking = loop.create_task(self._tick(), name="supervision")
        try:
            self._post(sv.ServerBegan())
            return await self._done
        finally:
            ticking.cancel()
            self._accept_if(False)
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
            for running in self._running.values():
                with contextlib.suppress(ProcessLookupError):
                    running.kill()
            await asyncio.gather(ticking, *self._lives, return_exceptions=True)
            shutil.rmtree(self._folder, ignore_errors=True)

    # -- Supervision

    def _post(self, given: sv.SupervisionInput) -> None:
        self._state, intents = sv.step(self._state, given)
        for intent in intents:
            self._perform(intent)
        self._accept_if(bool(self._candidates()))

    def _perform(self, intent: sv.SupervisionIntent) -> None:
        match intent:
            case sv.StartProcess():
                task = asyncio.get_running_loop().create_task(self._live(intent.process), name="process")
                self._lives.add(task)
                task.add_done_callback(self._lives.discard)
            case sv.StopProcess():
                self._tell(intent.process, pm.StopServing())
            case sv.KillProcess():
                self._kill(intent.process)
            case sv.Announce():
                self._announce(self._lines)
            case sv.ReportEnd():
                wait = f" in {intent.wait_ms // 1000} s" if intent.wait_ms else ""
                LOG.warning("worker %d has ended (%s); another one starts%s", *_named(intent), wait)
            case sv.ReportHang():
                LOG.error("worker %d doesn't respond: it is killed", intent.process + 1)
            case sv.Finish():
                if self._done is not None and not self._done.done():
                    self._done.set_result(intent.code)

    def _kill(self, process: int) -> None:
        if (running := self._running.get(process)) is not None:
            with contextlib.suppress(ProcessLookupError):
                running.kill()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._post(sv.Ticked(_now_ms()))

    async def _live(self, process: int) -> None:
        """Start a server process, and wait until it has ended."""
        ours, theirs = channel_pair()
        channel = Channel(
            ours,
            lambda message, client: self._receive(process, message, client),
            lambda: self._post(sv.ProcessLeft(process)),
        )
        self._started += 1
        code = 1
        try:
            with theirs:
                self._running[process] = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    env={**os.environ, VARIABLE: str(theirs.fileno())},
                    process_group=0,  # Ctrl-C is for the parent
                )
            self._channels[process] = channel
            channel.open()
            channel.send(self._welcome(process))
            if self._state.stops:  # asked to stop meanwhile
                self._kill(process)
            code = await self._running[process].wait()
        except OSError as problem:
            LOG.error("worker %d can't be started: %s", process + 1, problem.strerror)
        self._forget(process, channel)
        self._post(sv.ProcessEnded(process, code, _now_ms()))

    def _welcome(self, process: int) -> pm.Welcome:
        return pm.Welcome(
            process,
            len(self._state.processes),
            self._url,
            self._token,
            self._token_key,
            self._folder,
            is_first=self._started == 1,
        )

    def _forget(self, process: int, channel: Channel) -> None:
        channel.close()
        self._channels.pop(process, None)
        self._running.pop(process, None)
        self._directory.drop(process)
        self._loads.drop(process)
        self._sums.end(process)
        self._metrics_from.discard(process)
        self._limits_for.discard(process)
        self._tell_limits(process, pm.ProcessGone(process))
        self._want_calls(process, False)
        self._send_calls(pm.CallsPart(process, (), is_first=True, is_last=True))

    # -- Connections

    def _candidates(self) -> tuple[int, ...]:
        """The processes that may get a connection: those that are ready. If no process is ready, they are the processes
        that are stopping, so that one of them can refuse the client."""
        leaving = (at for at, one in enumerate(self._state.processes) if one.stage is sv.ProcessStage.LEAVING)
        return self._state.ready or tuple(at for at in leaving if at in self._channels)

    def _accept_if(self, is_accepting: bool) -> None:
        """Start or stop accepting connections. While no process can take connections, new ones wait in the kernel's
        queue."""
        if is_accepting != self._is_accepting:
            self._is_accepting = is_accepting
            loop = asyncio.get_running_loop()
            if is_accepting:
                loop.add_reader(self._listening, self._accept)
            else:
                loop.remove_reader(self._listening)

    def _accept(self) -> None:
        for _ in range(ACCEPTS_MAX):
            try:
                client, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as problem:  # such as too many open files
                LOG.error("can't accept a connection: %s", problem.strerror)
                self._accept_if(False)  # until the next tick
                return
            self._assign(client)

    def _assign(self, client: socket.socket) -> None:
        """Give a new connection to a process. A WebSocket goes to the process that has the fewest WebSockets; for other
        requests, the processes take turns."""
        candidates = self._candidates()
        is_websocket = looks_like_websocket(client)
        self._turn += 1
        chosen = self._loads.least(candidates) if is_websocket else candidates[self._turn % len(candidates)]
        assert chosen is not None
        self._give(chosen, pm.ConnectionPassed(is_websocket), client)

    def _give(self, process: int, message: pm.ConnectionPassed, client: socket.socket) -> None:
        if message.is_websocket:
            self._loads.send(process)
        if message.seat:
            self._directory.enter(process, message.seat)
        self._channels[process].send(message, client.detach())

    def _hand_on(self, message: pm.HandOn, client: socket.socket) -> None:
        """Pass a connection from one process to the process that it asks for. If that process has just died, the
        process with the fewest sockets gets the connection; it will find the conversation in the store."""
        candidates = self._candidates()
        process = message.process if message.process in self._channels else self._loads.least(candidates)
        if process is None:
            client.close()
            return
        on = pm.ConnectionPassed(
            message.is_websocket, message.data, message.request_bytes, message.seat, message.is_greeted
        )
        self._give(process, on, client)

    # -- What processes say

    def _receive(self, process: int, message: pm.FromProcess, client: socket.socket | None) -> None:
        self._post(sv.ProcessHeard(process))
        match message:
            case pm.Serving():
                self._lines = self._lines or message.lines
                self._post(sv.ProcessReady(process, _now_ms()))
                if self._are_calls_shared:
                    self._share_calls(True)  # the new process needs the lists of all
            case pm.Leaving():
                self._post(sv.ProcessLeft(process))
            case pm.LoadReport():
                self._loads.report(process, message.open, message.received)
            case pm.HandOn():
                assert client is not None
                self._hand_on(message, client)
            case pm.OwnMetrics():
                self._note_metrics(process, message.data.decode())
            case pm.SumMetrics():
                self._ask_metrics(process, message.question)
            case pm.WantCalls():
                self._want_calls(process, message.is_wanted)
            case pm.CallsPart():
                self._send_calls(message)
            case pm.WantLimits():
                self._tell_limits(process, pm.TellLimits(process))
                self._limits_for.add(process)
            case pm.LimitsPart():
                self._tell_limits(process, message, message.to)
            case _:
                self._note_place(process, message)

    def _note_place(self, process: int, message: pm.FromProcess) -> None:
        """Handle a message about where clients, their seats (ids of browsers) or conversations are: note what it
        reports, or answer its question."""
        directory = self._directory
        match message:
            case pm.FindClient():
                found = directory.find(message.seat, message.conversation)
                if message.seat and found in (None, process):
                    directory.enter(process, message.seat)
                self._tell(process, pm.ClientFound(message.question, process if found is None else found))
            case pm.SeatLeft():
                directory.leave(process, message.seat)
            case pm.ConversationBegun():
                directory.begin(process, message.conversation, message.seat)
            case pm.ConversationOver():
                directory.end(process, message.conversation)
            case pm.ConversationForgotten():
                directory.forget(process, message.conversation)

    def _tell(self, process: int, message: pm.FromParent) -> None:
        if (channel := self._channels.get(process)) is not None:
            channel.send(message)

    # -- Metrics

    def _ask_metrics(self, process: int, question: int) -> None:
        self._metrics_for.append((process, question))
        if self._metrics_alarm is None:
            self._metrics_from = {at for at in self._channels if self._state.processes[at].stage in sv.SERVING}
            for at in self._metrics_from:
                self._tell(at, pm.SendMetrics())
            self._metrics_alarm = asyncio.get_running_loop().call_later(METRICS_S_MAX, self._answer_metrics)

    def _note_metrics(self, process: int, text: str) -> None:
        self._sums.report(process, text)
        self._metrics_from.discard(process)
        if not self._metrics_from:
            self._answer_metrics()

    def _answer_metrics(self) -> None:
        if self._metrics_alarm is not None:
            self._metrics_alarm.cancel()
            self._metrics_alarm = None
        text = (self._sums.text() + self._own_metrics()).encode()
        asked, self._metrics_for = self._metrics_for, []
        for process, question in asked:
            self._tell(process, pm.MetricsSummed(question, text))

    def _own_metrics(self) -> str:
        sockets = "".join(
            f'duologue_worker_sockets{{worker="{at + 1}"}} {self._loads[at]}\n' for at in sorted(self._channels)
        )
        return (
            "# HELP duologue_workers Server processes that take connections.\n"
            "# TYPE duologue_workers gauge\n"
            f"duologue_workers {len(self._state.ready)}\n"
            "# HELP duologue_worker_starts_total Server processes that were started.\n"
            "# TYPE duologue_worker_starts_total counter\n"
            f"duologue_worker_starts_total {self._started}\n"
            "# HELP duologue_worker_sockets Open client sockets of each server process.\n"
            "# TYPE duologue_worker_sockets gauge\n"
            f"{sockets}"
        )

    # -- The list of calls

    def _want_calls(self, process: int, is_wanted: bool) -> None:
        """Note whether an operator at this process looks at the list of conversations. The processes share their lists
        while any operator does, and a little longer: an operator who begins to watch a conversation moves to the
        process that has it, and the lists should still be there then."""
        (self._calls_for.add if is_wanted else self._calls_for.discard)(process)
        if is_wanted and not self._are_calls_shared:
            self._share_calls(True)
        elif self._are_calls_shared and not self._calls_for:
            asyncio.get_running_loop().call_later(CALLS_S, self._unshare_calls)

    def _unshare_calls(self) -> None:
        if self._are_calls_shared and not self._calls_for:
            self._share_calls(False)

    def _share_calls(self, are_shared: bool) -> None:
        self._are_calls_shared = are_shared
        for at in self._channels:
            self._tell(at, pm.ShareCalls(are_shared))

    def _send_calls(self, part: pm.CallsPart) -> None:
        if self._are_calls_shared:
            for at in self._channels:
                if at != part.process:
                    self._tell(at, part)

    # -- Limits of addresses

    def _tell_limits(self, process: int, message: pm.FromParent, to: int | None = None) -> None:
        """Pass on what this process reports about limits: to the process `to`, or to all others if `to` is None."""
        for at in self._limits_for:
            if at == to or (to is None and at != process):
                self._tell(at, message)


def looks_like_websocket(client: socket.socket) -> bool:
    """Does this connection ask for a WebSocket? Looks at its first bytes without removing them, because the process
    that gets the connection must read them too. The bytes have already arrived, because of `wait_for_requests`."""
    try:
        head = client.recv(PEEKED_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except OSError:
        return False
    return b"upgrade: websocket" in head.lower()


def wait_for_requests(listening: socket.socket) -> None:
    """Set up the listening socket so that a connection is accepted only when its first bytes have arrived."""
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 10)


def _named(intent: sv.ReportEnd) -> tuple[int, str]:
    if intent.code >= 0:
        return intent.process + 1, f"exit code {intent.code}"
    try:
        return intent.process + 1, signal.Signals(-intent.code).name
    except ValueError:
        return intent.process + 1, f"signal {-intent.code}"


def _now_ms() -> int:
    return round(time.monotonic() * 1000)


def run_parent(parent: Parent) -> int:
    """Run the parent. It uses asyncio's own event loop: it does so little work that a faster one isn't worth the time
    to import it."""
    return asyncio.run(parent.run())
