"""What a policy's text says: from text to rules and back, and what is wrong with a text."""
