"""The Python client: its pure parts by themselves, and the whole of it against a real server."""
