def check_adult(birth_date):
    return birth_date <= "2009-11-18" or "The youngest driver we can insure is seventeen."


def whole_pounds(value_of_car):
    amount = value_of_car["amount"] if isinstance(value_of_car, dict) else value_of_car
    if amount < 100 or amount > 150000:
        raise ValueError("We insure cars worth between a hundred and a hundred and fifty thousand pounds.")
    return amount


def check_mileage(mileage):
    return 0 < mileage <= 100000 or "That can't be right."


def check_years(years_without_claim):
    return 0 <= years_without_claim <= 60 or "That can't be right."


def check_call_time(call_time):
    return "08:00" <= call_time <= "20:00" or "Our advisers call between eight in the morning and eight in the evening."


def compute_offers(cover, value_of_car, years_without_claim, key=None):
    return {
        "offers": [
            {
                "value": "basic",
                "label": "the basic offer for 30 pounds a month with an excess of 500",
                "also": ["thirty pounds", "basic", "the cheaper one", "30", "excess of 500"],
            },
            {
                "value": "plus",
                "label": "the plus offer for 42 pounds a month with an excess of 150",
                "also": ["forty two pounds", "plus", "42", "the dearer one", "excess of 150"],
            },
        ]
    }


def make_contract(
    customer,
    birth_date,
    plate,
    cover,
    value_of_car,
    years_without_claim,
    start,
    offer,
    email,
    mileage=None,
    second_driver=None,
    key=None,
):
    return {"policy": "P 88120"}


def plan_call(customer, phone, call_day, call_time, key=None):
    return None
