"""Lines: where sound goes out and audio comes in."""
