"""Turns written text into the text that is spoken: markup is left out, and numbers, dates, money and abbreviations
become words."""
