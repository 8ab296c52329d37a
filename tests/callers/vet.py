from datetime import date


def not_sunday(day):
    return date.fromisoformat(day).weekday() != 6 or "We are closed on Sundays."


def clinic_hours(time):
    return "08:00" <= time <= "19:00" or "We are open from eight to seven."


def packs_ok(packs):
    return 1 <= packs <= 6 or "You can order one to six packs."


def make_appointment(animal, pet_name, reason, day, time, insured, owner, key):
    return {"vet": "Doctor Hale"}


def order(pet_name, medicine, packs, weight, phone, key):
    return {"total": packs * 18}


def register(animal, pet_name, birthday, owner, phone, key):
    return {}
