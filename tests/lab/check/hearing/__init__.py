"""Tests of the exploration of hearing."""
