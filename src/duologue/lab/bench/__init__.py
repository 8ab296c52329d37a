"""What things cost: one representative call, driven through the core and through its peers.

Nothing here is imported by the rest of the package. Rule: a number is measured, never asserted; the
tests check that the right things are measured, not how fast they are.
"""
