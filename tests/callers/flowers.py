P = {"roses": 3, "tulips": 2, "lilies": 4, "sunflowers": 3.5}


def price_flowers(bouquet):
    return {"total": round(sum(i["count"] * P[i["flower"]] for i in bouquet)) + 6}


def send_flowers(bouquet, card="", recipient="", address="", day="", email=""):
    return {"order_number": "F310"}


def send_voucher(amount, voucher_email):
    return {}
