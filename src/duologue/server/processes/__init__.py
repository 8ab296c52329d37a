"""Several server processes behind one port: a parent that accepts sockets, and processes that serve them."""
