import re


def lake_is_open(start):
    return "09:00" <= start <= "18:00" or "The last boats go out at six, and the first at nine."


def fits_boat(people, boat=None):
    most = {"canoe": 3, "kayak": 2, "pedal boat": 5, "motorboat": 8}.get(boat, 8)
    return 1 <= people <= most or f"A {boat} takes {most} at most."


def price_boat(boat, how_long):
    h = int((re.search(r"(\d+)H", how_long) or [0, 0])[1])
    m = int((re.search(r"(\d+)M", how_long) or [0, 0])[1])
    d = int((re.search(r"(\d+)D", how_long) or [0, 0])[1])
    return {"total": round((d * 8 + h + m / 60) * {"canoe": 12, "kayak": 12, "pedal boat": 15, "motorboat": 40}[boat])}


def book_boat(boat, day, start, how_long, people, guest, phone):
    return {"reference": "B4471"}


def drop_rental(rental_number):
    return {}
