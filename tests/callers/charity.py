def number_of(amount):
    return amount["amount"] if isinstance(amount, dict) else amount


def gift_ok(amount):
    return 2 <= amount <= 10000 or "We can take gifts from two to ten thousand pounds."


def helpers_ok(helpers):
    return 1 <= helpers <= 12 or "We can take groups of up to twelve."


def take_gift(amount, frequency, donor, cause=None, start_date=None, gift_aid=None, donor_email=None, key=None):
    return {"reference": "D 3318"}


def sign_up(role, helpers, first_day, hours_week, donor, phone, key):
    return {}


def arrange(goods, address, collect_day, window, phone, key):
    return {"van": "14"}
