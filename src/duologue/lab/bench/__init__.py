"""Benchmarks: CPU time, memory and delays of the core, the runtime, the models, the server and the store.

Only `duologue bench` and `duologue nlu bench` import it. Rule: a number is measured, never asserted; the tests check
that the right things are measured, not how fast they are.
"""
