"""The past as tables: what records make of them, the fold that keeps them, what is asked."""
