"""`Fallback(first, second, …)` combines several ears, voices or brains, so that they can be used as one.

Rule: all services must be of the same kind. The kind is recognised by their methods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from duologue.brains.function_brain import as_brain
from duologue.ports.brain import Brain
from duologue.ports.ears import Ears
from duologue.ports.voice import Voice

from .brain import FallbackBrain
from .ears import FallbackEars
from .health import HealthRule
from .services import Services
from .voice import FallbackVoice

_KINDS = {"reply": "brain", "speak": "voice", "listen": "ears"}


@overload
def make_fallback(
    first: Brain | Callable[..., Any],
    *others: Brain | Callable[..., Any],
    after_ms: int | None = None,
    rule: HealthRule | None = None,
    names: Sequence[str] | None = None,
) -> FallbackBrain: ...
@overload
def make_fallback(
    first: Voice,
    *others: Voice,
    after_ms: int | None = None,
    rule: HealthRule | None = None,
    names: Sequence[str] | None = None,
) -> FallbackVoice: ...
@overload
def make_fallback(
    first: Ears, *others: Ears, rule: HealthRule | None = None, names: Sequence[str] | None = None
) -> FallbackEars: ...
def make_fallback(
    first: Any,
    *others: Any,
    after_ms: int | None = None,
    rule: HealthRule | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """Combine several services into one, which uses the first service that is healthy.

    When a service fails, the next one takes over at a point where nothing is lost or repeated. A brain takes over
    before the first part of the reply, a voice takes over between two words, and ears get the audio of the open
    utterance again. A service that fails repeatedly rests for a while: all other services are tried before it. `rule`
    says when a service rests, and how long. If a brain or a voice has yielded nothing after `after_ms`, the request is
    also sent to the next service, and the faster answer is used. `names` are the names of the services in signals and
    logs. A brain may be a function, as in `Agent`.
    """
    services = tuple(as_brain(one) if _is_function(one) else one for one in (first, *others))
    found = [kind for method, kind in _KINDS.items() if all(hasattr(one, method) for one in services)]
    if not found:
        kinds = ", ".join(type(one).__name__ for one in services)
        raise TypeError(f"Fallback takes only ears, only voices or only brains, not {kinds}")
    if not others:
        raise ValueError("Fallback needs at least two services")
    if after_ms is not None and after_ms < 1:
        raise ValueError(f"after_ms={after_ms}: the time must be above 0")
    made: Services[Any] = Services(found[0], services, rule or HealthRule(), names)
    if found[0] == "ears":
        if after_ms is not None:
            raise ValueError("after_ms can't be used with ears, only with brains and voices")
        return FallbackEars(made)
    return FallbackBrain(made, after_ms) if found[0] == "brain" else FallbackVoice(made, after_ms)


def _is_function(service: object) -> bool:
    return callable(service) and not any(hasattr(service, method) for method in _KINDS)


Fallback = make_fallback
"""Several ears, voices or brains as one: `Fallback(first, second, …, after_ms=…, rule=…, names=…)`."""
