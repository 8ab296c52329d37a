"""The English words for currencies, units, fractions and symbols."""

from __future__ import annotations

_DOLLAR = ("dollar", "dollars", "cent", "cents")
_EURO = ("euro", "euros", "cent", "cents")
_POUND = ("pound", "pounds", "penny", "pence")
MONEY = {
    "$": _DOLLAR, "USD": _DOLLAR, "€": _EURO, "EUR": _EURO, "£": _POUND, "GBP": _POUND, "¥": ("yen", "yen", "", ""),
    "JPY": ("yen", "yen", "", ""), "₹": ("rupee", "rupees", "paisa", "paise"),
    "CHF": ("Swiss franc", "Swiss francs", "centime", "centimes"),
}  # fmt: skip
SCALES = {
    "k": "thousand", "m": "million", "bn": "billion", "b": "billion", "million": "million", "billion": "billion",
    "thousand": "thousand", "trillion": "trillion",
}  # fmt: skip


def _of(name: str, many: str = "") -> tuple[str, str]:
    return name, many or f"{name}s"


UNITS = {
    "km": _of("kilometer"), "m": _of("meter"), "cm": _of("centimeter"), "mm": _of("millimeter"), "mi": _of("mile"),
    "ft": _of("foot", "feet"), "yd": _of("yard"), "kg": _of("kilogram"), "g": _of("gram"), "mg": _of("milligram"),
    "lb": _of("pound"), "lbs": _of("pound"), "oz": _of("ounce"), "l": _of("liter"), "L": _of("liter"),
    "ml": _of("milliliter"), "mL": _of("milliliter"), "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"), "°": _of("degree"),
    "km/h": ("kilometer per hour", "kilometers per hour"), "kph": ("kilometer per hour", "kilometers per hour"),
    "mph": ("mile per hour", "miles per hour"), "m/s": ("meter per second", "meters per second"),
    "kB": _of("kilobyte"), "KB": _of("kilobyte"), "MB": _of("megabyte"), "GB": _of("gigabyte"), "TB": _of("terabyte"),
    "Mbps": ("megabit per second", "megabits per second"), "Gbps": ("gigabit per second", "gigabits per second"),
    "Hz": ("hertz", "hertz"), "kHz": ("kilohertz", "kilohertz"), "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"), "W": _of("watt"), "kW": _of("kilowatt"), "kWh": _of("kilowatt hour"),
    "V": _of("volt"), "mAh": _of("milliamp hour"), "h": _of("hour"), "hr": _of("hour"), "hrs": _of("hour"),
    "min": _of("minute"), "mins": _of("minute"), "s": _of("second"), "sec": _of("second"), "ms": _of("millisecond"),
    "m²": _of("square meter"), "km²": _of("square kilometer"), "sq ft": ("square foot", "square feet"),
    "m³": _of("cubic meter"), "ha": _of("hectare"), "px": _of("pixel"), "dB": _of("decibel"), "kcal": _of("calorie"),
}  # fmt: skip
FRACTIONS = {
    2: ("half", "halves"), 3: ("third", "thirds"), 4: ("quarter", "quarters"), 5: ("fifth", "fifths"),
    6: ("sixth", "sixths"), 8: ("eighth", "eighths"), 10: ("tenth", "tenths"),
}  # fmt: skip
SYMBOLS = (
    ("&", r"&(?:amp;)?", " and "), ("=", r"\s?=\s?", " equals "), ("+", r"(?<=[\w\s])\+(?=[\s\d])", " plus "),
    ("→", r"→", " to "), ("≈", "≈", "about "), ("~", r"~(?=\d)", "about "), ("±", "±", "plus or minus "),
    ("×", r"\s?×\s?", " times "), ("÷", "÷", " divided by "), ("≥", "≥", " at least "), ("≤", "≤", " at most "),
    ("#", r"#(?=\d)", "number "), ("½", "½", " one half "), ("¼", "¼", " one quarter "), ("¾", "¾", " three quarters "),
    ("%", "%", " percent "), ("@", r"(?<!\S)@(?=\w)", "at "), ("§", r"§\s?", "section "),
    (">", r"(?<=\s)>(?=\s)", "greater than"), ("<", r"(?<=\s)<(?=\s)", "less than"),
    ("/", r"(?<=and)/(?=or)", " "), ("*", r"(?<=\s)\*(?=\s)", "times"),
)  # fmt: skip
