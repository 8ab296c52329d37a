"""Reads journals: replays them exactly, turns them into timelines, and describes their steps in plain words."""
