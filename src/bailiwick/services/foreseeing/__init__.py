"""What a change would lead to, told to whoever tries it, as far as he may know."""
