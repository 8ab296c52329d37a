PR = {"keyboard": 40, "mouse": 20, "headset": 90, "monitor": 210, "docking station": 150}


def affected_ok(affected):
    return 1 <= affected <= 5000 or "It has to be at least one person."


def quantity_ok(quantity):
    return 1 <= quantity <= 10 or "You can order up to ten at once."


def open_ticket(employee_id, device, problem, affected, urgency, extension, key):
    return {"ticket": "INC 2207"}


def reset(employee_id, system, key):
    return {}


def order(item, quantity, needed_by, cost_centre, manager, key):
    return {"total": PR[item] * quantity}
