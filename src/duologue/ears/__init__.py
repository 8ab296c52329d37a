"""Ears: what turns audio into onsets and words."""
