"""What transfer.yaml does: functions with the names that the file uses."""

from __future__ import annotations

_sent: dict[str, float] = {}  # by the key of the transfer
_START = 2_000.0


def _balance() -> float:
    return _START - sum(_sent.values())


def in_euros(amount: dict[str, str | float | None] | float) -> float:
    """An amount of money as a number, so that it can be compared."""
    if not isinstance(amount, dict):
        return amount
    if amount["currency"] not in (None, "EUR"):
        raise ValueError("I can only send euros.")
    return float(amount["amount"] or 0)


def is_sendable(amount: float) -> bool | str:
    return amount > 0 or "It has to be more than nothing."


def is_valid_code(code: str) -> bool | str:
    return len(code) == 6 or "A code has six characters."


def check_balance(amount: float) -> dict[str, bool | float]:
    return {"covered": amount <= _balance(), "left": _balance() - amount}


def send_money(recipient: str, amount: float, key: str, code: str = "") -> dict[str, str]:
    """Send the money. The same key means the same transfer, so a retry sends nothing twice."""
    _sent.setdefault(key, amount)
    return {"reference": f"TR{len(_sent):04d}"}


def tell_balance() -> dict[str, float]:
    return {"balance": _balance()}
