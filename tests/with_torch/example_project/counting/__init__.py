"""A language model that learns to count."""
