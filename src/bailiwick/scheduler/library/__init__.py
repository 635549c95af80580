"""For programs that use the library alone: a waiting queue, and several cells under one quota."""
