"""The pure conversation machine. See `machine.step`."""
