from datetime import date, timedelta


def weeks_allowed(weeks):
    return 1 <= weeks <= 4 or "We can renew for one to four weeks."


def open_that_day(pickup_date):
    return date.fromisoformat(pickup_date).weekday() != 6 or "We're closed on Sundays."


def money_to_number(pay_amount):
    return pay_amount["amount"] if isinstance(pay_amount, dict) else pay_amount


def amount_allowed(pay_amount):
    return 1 <= pay_amount <= 18.4 or "You can pay between one dollar and the 18.40 that you owe."


def renew(card_number, book_title, weeks, key):
    return {"due": (date(2026, 11, 20) + timedelta(weeks=weeks)).strftime("%B %-d")}


def reserve(book_title, branch_office, pickup_date, card_number, notify_phone, key):
    return {"hold_number": "H 512"}


def look_up_fines(card_number):
    return {"balance": 18.4}


def pay(card_number, pay_amount, receipt_email, key):
    return {"left": round(18.4 - pay_amount, 2)}
