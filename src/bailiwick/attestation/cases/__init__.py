"""Published cases of evidence, judged: one module per kind of case."""
