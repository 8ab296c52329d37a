"""What the agent says and shows by itself, in the person's language. Each language is one file of texts."""
