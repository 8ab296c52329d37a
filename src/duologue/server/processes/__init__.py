"""Several server processes behind one port: a parent that accepts connections, and processes that serve them."""
