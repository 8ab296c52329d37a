def family_size(members):
    return 2 <= members <= 5 or "A family membership is for two to five people."


def term_ok(term):
    return term.startswith("P")


def old_enough(birthday):
    return birthday <= "2010-11-18" or "Members have to be sixteen."


def pause_ok(months):
    return 1 <= months <= 6 or "You can pause for one to six months."


def trainer_hours(time):
    return "08:00" <= time <= "20:00" or "Trainers work from eight to eight."


def sign_up(plan, start, term, member_name, birthday, locker, key, members=None):
    return {"card": "K40112", "price": {"basic": 29, "plus": 45, "family": 79}[plan] + (5 if locker else 0)}


def pause_it(number, start, months, key, why=None):
    return {}


def book_session(goal, trainer, day, time, key):
    return {"cost": 55}
