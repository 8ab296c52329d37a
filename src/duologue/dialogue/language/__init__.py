"""What every language has in common: questions and readings, and the interface of a language pack."""
