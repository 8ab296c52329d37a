"""The exploration of the conversation machine: its events (alphabet), the reduction of its states to a finite number
(abstraction), what must never happen (laws), what must happen (promises), and copies of the machine that are broken on
purpose (mutants)."""
