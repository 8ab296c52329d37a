"""Exploration of the hearing machine together with the conversation machine."""
