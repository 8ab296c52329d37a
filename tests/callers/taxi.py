def fits_in(passengers: int) -> bool | str:
    return 1 <= passengers <= 8 or "We have room for one to eight people."


def quote(pickup, destination, passengers, suitcases) -> dict:
    if passengers > 4 or suitcases > 3:
        return {"fare": 38, "car": "A minibus"}
    return {"fare": 24, "car": "A saloon car"}


def send_taxi(
    pickup, destination, day, time, passengers, suitcases, payment, phone, key, account=None
) -> dict[str, str]:
    return {"ride": "308"}


def report_lost(lost_thing, ride_day, contact, key, ride_time=None, email=None) -> None:
    return None
