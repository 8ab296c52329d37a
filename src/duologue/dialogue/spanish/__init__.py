"""Spanish: the words and the texts."""
