"""One file for each word that follows ``bailiwick``: what it takes, asks for and shows."""
