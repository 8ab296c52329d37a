"""Turn-taking: what a sound means for the floor. Pure; no clock, no audio, no machine."""
