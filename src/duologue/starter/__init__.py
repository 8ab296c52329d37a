"""The project that `duologue init` writes: an agent that books flights. `duologue serve` also runs it as its demo."""
