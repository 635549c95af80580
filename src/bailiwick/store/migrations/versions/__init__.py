"""One script for each change of the tables, in order; a script that was released never changes."""
