PR = {"city bike": 15, "mountain bike": 25, "e-bike": 35, "tandem": 30, "cargo bike": 40, "children's bike": 8}


def count_ok(count):
    return 1 <= count <= 12 or "We have up to twelve of each."


def days_ok(days):
    return 1 <= days <= 30 or "You can rent for up to thirty days."


def shop_open(start_time):
    return "08:00" <= start_time <= "19:00" or "We're open from eight to seven."


def height_ok(rider_height):
    return 80 <= rider_height <= 220 or "In centimetres, please, between 80 and 220."


def quote(bike, count, days):
    return {"price": PR[bike] * count * days}


def book_bikes(bike, count, start_day, start_time, days, helmets, renter, phone, key):
    return {"code": "KLM204"}


def change(bike, count, start_day, start_time, days, key):
    return {}


def extend(booking, extra, key):
    return {"extra_price": 20}


def send_mechanic(trouble, booking, where, phone, key):
    return {"minutes": 25}
