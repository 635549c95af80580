"""What is drawn as a tree: a machine, with what is inside it and around it."""
