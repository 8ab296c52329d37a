"""Reads journals: replays them exactly, converts them to timelines, and describes their steps in plain words."""
