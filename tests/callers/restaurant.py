def check_count(count):
    return 0 < count <= 20 or "We can make at most twenty of one dish."


def check_delivery_time(delivery_time):
    return "12:00" <= delivery_time <= "23:00" or "We deliver from noon to eleven in the evening."


def send_order(order, address, phone, payment, heat=None, delivery_time=None, voucher=None, key=None):
    price = sum(item["count"] * (12 if item["size"] == "large" else 8) for item in order)
    return {"new_number": "4471", "price": price}


def look_up_order(order_number, key=None):
    return {"minutes_left": 15}
