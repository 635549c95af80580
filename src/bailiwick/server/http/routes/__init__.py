"""Routes: each parses a request, calls one service and spells its answer; one file per noun."""
