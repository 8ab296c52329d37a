"""The project that `duologue init` writes, which is also the demo of `duologue serve`: an agent that books flights."""
