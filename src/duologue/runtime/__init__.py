"""The runtime of a conversation: the driver, the parts that perform effects, and the simulated clock."""
