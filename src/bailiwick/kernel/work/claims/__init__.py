"""Who leaves for work that waits: where room is made, for whom it is kept, who gets his back."""
