import datetime


def check_visitors(visitors):
    return 5 <= visitors <= 60 or "We take groups of five to sixty people."


def check_open(day):
    return datetime.date.fromisoformat(day).weekday() != 0 or "We are closed on Mondays."


def check_arrival(arrival):
    return "09:00" <= arrival <= "16:00" or "Groups can arrive between nine and four."


def find_tours(kind, key=None):
    if kind == "school class":
        return {
            "tours": [
                {"value": "dinosaurs", "also": ["dinos", "the dinosaur one"]},
                {"value": "ancient Egypt", "also": ["egypt", "mummies"]},
                {"value": "space", "also": ["planets", "stars"]},
            ]
        }
    return {
        "tours": [
            {"value": "highlights", "also": ["best of"]},
            {"value": "ancient Egypt", "also": ["egypt", "mummies"]},
            {"value": "the history of the town", "also": ["town history", "history"]},
        ]
    }


def book_group(
    group_name, kind, visitors, day, arrival, lunch, contact, phone, tour=None, tour_language=None, needs=None, key=None
):
    return {"number": "G 315"}


def call_off(visit_number, sure, key=None):
    return None
