from datetime import date


def bedrooms_ok(bedrooms):
    return 1 <= bedrooms <= 5 or "We have flats with one to five bedrooms."


def not_sunday(day):
    return date.fromisoformat(day).weekday() != 6 or "There are no viewings on Sundays."


def viewing_hours(time):
    return "09:00" <= time <= "19:00" or "Viewings are between nine and seven."


def find_flats(area, bedrooms, rent, key):
    return {
        "found": [
            {
                "value": "Mill Street 4",
                "label": "Mill Street 4 for 950 euros",
                "also": ["mill street", "the cheap one", "the cheaper one"],
            },
            {
                "value": "Rose Court 12",
                "label": "Rose Court 12 with a balcony for 1100 euros",
                "also": ["rose court", "the one with the balcony"],
            },
            {
                "value": "Castle Road 7",
                "label": "Castle Road 7 on the top floor for 1050 euros",
                "also": ["castle road", "the top floor one", "the one at the top"],
            },
        ]
    }


def book_viewing_slot(flat, day, time, people, name, key):
    return {"ref": "V2207"}


def move_slot(reference, day, time, key):
    return {}


def drop_slot(reference, key):
    return {}


def sign_up(email, area, key):
    return {}
