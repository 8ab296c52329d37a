"""The server: a page, a socket for each client, and the conversations behind them."""
