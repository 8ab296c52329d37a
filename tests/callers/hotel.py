def nights_possible(nights: int) -> bool | str:
    return 1 <= nights <= 21 or "We take bookings for one to twenty-one nights."


def room_exists(room_number: int) -> bool | str:
    return 101 <= room_number <= 432 or "Our rooms are numbered from 101 to 432."


def reserve_room(arrival, nights, room, breakfast, guest, phone, key, wishes=None) -> dict[str, str]:
    return {"booking_number": "4471"}


def set_wake_up(room_number, wake_day, wake_time, second_call, key, tray=None) -> None:
    return None
