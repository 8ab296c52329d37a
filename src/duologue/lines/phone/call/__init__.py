"""What happens to a telephone call around its conversation: dialling, machines, hold, transfers. Pure: rows."""
