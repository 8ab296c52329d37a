"""Watching a conversation: what was said and really heard, which tools ran, and how long the user waited."""

from duologue import Agent, signals


async def reply(request):
    yield f"You said: {request.text}"


agent = Agent(reply)


def watch(conversation, log=print):
    """Log a conversation. `Server(...)`, `phone_routes(..., on_conversation=watch)` and tests can call this."""

    def caption(signal):
        if signal.final:
            cut = f" [not heard: {signal.unheard}]" if signal.unheard else ""
            log(f"{signal.role}: {signal.text}{cut}")

    def ended(signal):
        metrics = conversation.metrics
        log(f"ended: {metrics.turns} turns, first audio after {metrics.first_audio_ms} ms on average")

    conversation.on(signals.Caption, caption)
    conversation.on(signals.Failed, lambda signal: log(f"fault: {signal.hint}"))
    conversation.on(signals.Ended, ended)
