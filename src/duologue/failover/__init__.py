"""Several services for the same part of an agent, such as its voice: when a service fails, the next one is used."""

from .fallback import Fallback
from .health import HealthRule

__all__ = ["Fallback", "HealthRule"]
