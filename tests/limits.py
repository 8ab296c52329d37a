"""How long tests in real time wait. They wait for events, and the machine may be busy."""

from __future__ import annotations

WAIT_S = 120.0
"""Only a broken test waits this long for one event."""

TEST_S = 240.0
"""The same for all that a test does."""
