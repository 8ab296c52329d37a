import datetime


def check_birth_date(birth_date):
    return "1900-01-01" <= birth_date <= "2026-11-18" or "That can't be a date of birth."


def check_packs(packs):
    return 1 <= packs <= 3 or "We can give you at most three packs at a time."


def check_day(day):
    return datetime.date.fromisoformat(day).weekday() < 5 or "We are closed at weekends."


def order_prescription(patient, birth_date, medicines, pharmacy, needed_by=None, note=None, key=None):
    return {"ready_on": "on Friday afternoon"}


def find_times(day, doctor=None, key=None):
    if day == "2026-11-18":
        return {"free_times": []}
    return {
        "free_times": [
            {"value": "09:20", "label": "twenty past nine", "also": ["9:20", "nine twenty", "the early one"]},
            {"value": "11:40", "label": "twenty to twelve", "also": ["11:40", "eleven forty"]},
            {
                "value": "16:10",
                "label": "ten past four",
                "also": ["4:10", "four ten", "the afternoon one", "afternoon"],
            },
        ]
    }


def book(patient, birth_date, reason, day, appointment, phone, doctor=None, key=None):
    return None


def move(patient, birth_date, day, appointment, key=None):
    return None
