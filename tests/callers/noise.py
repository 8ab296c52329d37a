def file_complaint(kind, where, noise_day, noise_time, times, wants_answer, email=None):
    return {"case": "NC20417"}


def look_up_case(case_number):
    return {"status": "with an officer"}
