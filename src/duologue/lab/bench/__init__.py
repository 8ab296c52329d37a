"""Benchmarks: CPU time, memory and delays of the core, the runtime, the models, the server and the store.

Only `duologue bench` and `duologue nlu bench` import this package. Rule: tests never assert how fast something is. They
only check that the right things are measured.
"""
