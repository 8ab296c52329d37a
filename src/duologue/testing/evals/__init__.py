"""Evaluations: an LLM calls an agent, and another LLM judges the calls."""
