"""Stores for conversations: in memory, in an SQLite file or in PostgreSQL. All of them behave in the same way."""
