"""Whether an app is ready to be taken on: evidence of a check, and what follows from it."""
