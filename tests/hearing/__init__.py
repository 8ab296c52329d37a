"""Tests of the hearing machine."""
