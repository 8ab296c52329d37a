"""Tools that test and measure duologue and are not part of a running agent.

They explore the state machines, simulate callers, measure speed and memory, and break real servers on purpose. Rule:
`duologue serve` imports nothing from here.
"""
