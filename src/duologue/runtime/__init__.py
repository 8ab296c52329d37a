"""The only place that awaits: the driver, what performs effects, and the clocks."""
