from datetime import date


def few_enough(count: int) -> bool | str:
    return 1 <= count <= 30 or "We can take one to thirty of them."


def works_on(day: str) -> bool | str:
    return date.fromisoformat(day).weekday() < 6 or "The driver doesn't work on Sundays."


def delivers_at(back_at: str) -> bool | str:
    return "09:00" <= back_at <= "20:00" or "We deliver between nine and eight."


def send_driver(order, collection_day, window, address, customer, phone, express, key, notes=None) -> dict[str, str]:
    return {"slip": "PR518"}


def plan_delivery(ticket, back_on, back_at, key, leave_with=None, tip=None) -> None:
    return None
