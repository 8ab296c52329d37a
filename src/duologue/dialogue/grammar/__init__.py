"""One engine for languages whose grammars are data: word lists, tables of numbers, months and units, and phrases."""
