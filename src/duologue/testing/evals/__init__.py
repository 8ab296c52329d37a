"""Evaluations: an LLM calls an agent, and another one judges the calls."""
