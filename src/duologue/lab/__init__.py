"""Tools that test and measure duologue and are not part of a running agent.

They explore the machines, simulate callers, measure, and break real servers on purpose. Rule: `duologue serve` imports
nothing from here.
"""
