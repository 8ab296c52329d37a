def not_same(to_place, from_place=None):
    return to_place != from_place or "That's the town you are moving from."


def rooms_ok(rooms):
    return 1 <= rooms <= 12 or "We move homes with one to twelve rooms."


def pounds(deposit):
    return deposit["amount"] if isinstance(deposit, dict) else deposit


def enough(deposit):
    return deposit >= 50 or "The deposit is at least 50 pounds."


def boxes_ok(boxes):
    return 5 <= boxes <= 200 or "We deliver from 5 to 200 boxes."


def quote(from_place, to_place, move_day, rooms, floor, packing, special, key, lift=None):
    return {"price": 300 + 180 * int(rooms), "quote_no": "MQ518"}


def accept(quote_id, deposit, phone, key):
    return {}


def send_boxes(boxes, deliver_day, deliver_time, key):
    return {"box_price": 2 * int(boxes)}
