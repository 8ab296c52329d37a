"""Reading journals: exact replay, timelines, and steps in plain words."""
