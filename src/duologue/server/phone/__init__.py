"""Phone calls over the carriers' media WebSockets, as routes for a Starlette application."""

from .routes import phone_routes
from .settings import InvalidPhoneSettings, PhoneSettings

__all__ = ["InvalidPhoneSettings", "PhoneSettings", "phone_routes"]
