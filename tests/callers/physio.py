from datetime import date


def open_on(day: str) -> bool | str:
    return date.fromisoformat(day).weekday() < 6 or "We are closed on Sundays."


def within_hours(new_time: str) -> bool | str:
    return "08:00" <= new_time <= "19:00" or "We are open from eight to seven."


def free_times(day, therapist=None) -> dict:
    if date.fromisoformat(day).weekday() % 2:
        return {
            "free": [
                {"value": "09:30", "label": "half past nine", "also": ["nine thirty", "9:30", "the morning one"]},
                {"value": "13:00", "label": "one o'clock", "also": ["one", "1 pm"]},
                {"value": "16:15", "label": "a quarter past four", "also": ["four fifteen", "4:15"]},
            ]
        }
    return {
        "free": [
            {"value": "08:15", "label": "a quarter past eight", "also": ["eight fifteen", "8:15"]},
            {"value": "11:00", "label": "eleven", "also": ["eleven o'clock", "11"]},
            {"value": "17:30", "label": "half past five", "also": ["five thirty", "5:30"]},
        ]
    }


def book(complaint, day, appointment, patient, birthday, insurance, phone, key, therapist=None) -> dict[str, str]:
    return {"code": "KD2290"}


def move(booking, new_day, new_time, reminder, key, reason=None) -> None:
    return None
