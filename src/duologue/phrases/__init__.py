"""What the agent says and shows without asking the brain, in the person's language. Each language is one file of
texts."""
