"""Simulated conversations: scripts take the place of callers, carriers and services, on a simulated clock."""
