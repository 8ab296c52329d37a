"""What the protocols of other projects share: admission, limits, queues, and the conversation behind a translation."""
