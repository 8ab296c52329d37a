"""Where conversations are stored: in memory, in an SQLite file or in PostgreSQL, all with the same behaviour."""
