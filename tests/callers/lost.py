def not_in_future(lost_on):
    return lost_on <= "2026-11-18" or "That day is still to come."


def file_report(item, colour, place, lost_on, around, details, email, key):
    return {"number": "LF3381"}


def file_found(item, place, lost_on, worth, finder, key):
    return {}


def reserve(case, posted, finder, key, fetch_day=None):
    return {}
