"""Phone calls over the carriers' media WebSockets, as routes for a Starlette application."""

from .exchange import PhoneExchange
from .routes import phone_routes
from .settings import InvalidPhoneSettings, PhoneSettings

__all__ = ["InvalidPhoneSettings", "PhoneExchange", "PhoneSettings", "phone_routes"]
