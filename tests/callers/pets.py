from datetime import date


def not_sunday(day):
    return date.fromisoformat(day).weekday() != 6 or "We're closed on Sundays."


def book_visit(animal, pet, reason, day, time, limit, phone):
    return {"vet": "Doctor Malik"}


def order_boxes(repeat_medicine, boxes):
    return {}
