"""The health of machines in words: sentences of findings, and tickets."""
