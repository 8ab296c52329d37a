"""The pure machine of a telephone call around its conversation: dialling, answering machines, hold and transfers."""
