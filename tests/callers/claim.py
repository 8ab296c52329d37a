from datetime import date


def not_future(incident_date):
    return incident_date <= "2026-11-18" or "That day hasn't come yet."


def as_number(amount):
    return amount["amount"] if isinstance(amount, dict) else amount


def amount_ok(amount):
    return 0 < amount <= 5000 or "We cover up to five thousand pounds."


def weekday_only(callback_day):
    return date.fromisoformat(callback_day).weekday() < 5 or "Our advisers work Monday to Friday."


def file(policy, kind, incident_date, country, amount, story, contact_email, key, receipts=None):
    return {"claim_ref": "C 40771"}


def status(claim_number):
    return {"state_text": "Your claim was approved on Monday. 340 pounds will be paid this week."}


def book_call(claimant, callback_day, callback_time, callback_phone, key):
    return {}
