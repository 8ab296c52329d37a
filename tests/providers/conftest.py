"""Providers whose plugins aren't installed for `make test`: `make providers`."""

from __future__ import annotations

from tests.plugins.conftest import _plain_environment

__all__ = ["_plain_environment"]
