"""What is drawn: a machine as a tree, with what is in it and around it; a graph as a picture."""
