def check_destination(destination, origin=None):
    return destination != origin or "That is the station you leave from."


def check_seats(seats):
    return 1 <= seats <= 9 or "A booking has one to nine tickets."


def pounds(price):
    amount = price["amount"] if isinstance(price, dict) else price
    if amount <= 0 or amount > 1000:
        raise ValueError("A ticket costs between one and a thousand pounds.")
    return amount


def replace_ticket(passenger, booking, origin, destination, travel_date, departure, email, where_lost=None, key=None):
    return {"fee": 5}


def request_refund(passenger, booking, travel_date, reason, seats, price, pay_by, email, delay=None, key=None):
    return {"case_number": "R 2208"}
