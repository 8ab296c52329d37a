"""Where conversations are kept: in memory, in an SQLite file, in PostgreSQL. All three keep one contract."""
