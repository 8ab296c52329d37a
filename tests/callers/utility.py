def plausible(reading: int) -> bool | str:
    return 0 <= reading <= 999999 or "A meter has at most six digits."


def not_in_future(read_on: str) -> bool | str:
    return read_on <= "2026-11-18" or "That day is still to come."


def household(people: int) -> bool | str:
    return 1 <= people <= 12 or "I can enter one to twelve people."


def enough(instalment: dict) -> bool | str:
    return instalment["amount"] >= 20 or "The smallest payment is twenty pounds a month."


def store_reading(customer_number, supply, reading, read_on, key, remark=None) -> dict:
    return {"used": 2315}


def store_move(
    customer_number, move_out, new_address, keep_supply, email, key, final_reading=None, people=None, instalment=None
) -> None:
    return None
