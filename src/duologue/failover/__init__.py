"""Several services for one part of an agent: when one fails, the next is used."""

from .fallback import Fallback
from .health import HealthRule

__all__ = ["Fallback", "HealthRule"]
