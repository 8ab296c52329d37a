"""What coffee.yaml does: functions with the names that the file uses."""

from __future__ import annotations


def brew(
    drink: str, size: str = "", shots: str = "", roast: str = "", milk: str = "", sweetener: str = ""
) -> dict[str, str]:
    """The order, as it is said back. A slot that the user leaves open has the value "dontcare"."""
    how = " ".join(word for word in (size, shots, roast, drink) if word not in ("", "dontcare"))
    extras = " and ".join(word for word in (milk, sweetener) if word not in ("", "dontcare"))
    return {"order": f"{how} with {extras}" if extras else how}
