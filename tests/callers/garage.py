from datetime import date


def plausible_mileage(mileage):
    return 0 <= mileage <= 500000 or "That can't be the mileage."


def is_workday(day):
    return date.fromisoformat(day).weekday() < 5 or "We are closed at weekends."


def is_open(dropoff):
    return "07:30" <= dropoff <= "17:00" or "Cars can be dropped off between half past seven and five."


def book_it(service, plate, day, dropoff, loaner, phone, key):
    return {
        "booking": "G418",
        "price": {"oil change": 89, "brakes": 180, "tyre change": 60, "inspection": 55, "air conditioning": 99}[
            service
        ],
    }


def open_repair(problem, plate, budget, day, key):
    return {"booking": "R77"}


def look_up(plate, key):
    return {"status": "It is still on the lift, it will be ready at four this afternoon."}
