"""What all languages have in common: questions, what replies can mean, and the interface of a language pack."""
