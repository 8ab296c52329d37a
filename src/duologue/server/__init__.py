"""The server: a web page, a socket for each client, and their conversations."""
