"""One engine for all languages whose grammars are data: word lists, tables of numbers, months and units, and
phrases."""
