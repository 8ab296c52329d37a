"""Clients of the panel's protocol: the npm package, and the script that puts an agent on any page."""
