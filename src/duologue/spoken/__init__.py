"""What is written becomes what is said: markup is left out, numbers, dates, money and abbreviations become words."""
