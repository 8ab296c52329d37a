"""What builds and proves the product and is not part of a running agent.

Exploring the machines, simulating callers, measuring, and breaking real servers on purpose. Rule: nothing that
`duologue serve` imports lies here.
"""
