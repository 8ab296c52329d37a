"""German: the words, the texts, and the numbers that are written as one word."""
