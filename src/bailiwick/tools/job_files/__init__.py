"""Job files: the words of a request as people write them, read with the place of every mistake."""
