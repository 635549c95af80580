"""The line of waiting work: how it is kept in lanes, and what its order follows from."""
