from datetime import date


def salon_open(day):
    return date.fromisoformat(day).weekday() in (1, 2, 3, 4, 5) or "We're closed on Sundays and Mondays."


def in_hours(time):
    return "09:00" <= time <= "18:00" or "We take appointments from nine to six."


def people_ok(people):
    return 1 <= people <= 5 or "We can take up to five people together."


def to_number(voucher_amount):
    return voucher_amount["amount"] if isinstance(voucher_amount, dict) else voucher_amount


def voucher_ok(voucher_amount):
    return 10 <= voucher_amount <= 300 or "Vouchers are from 10 to 300 pounds."


P = {"cut": 35, "colour": 60, "highlights": 80, "perm": 70, "blow-dry": 25, "beard trim": 15}


def book(service, people, day, time, stylist, customer, phone, key):
    return {"price": P[service] * people}


def move(customer, day, time, key):
    return {}


def cancel_it(customer, day, reason, key):
    return {}


def sell_voucher(voucher_amount, recipient, delivery_email, key):
    return {"voucher_code": "V 8821"}
