"""The jobs of a node: what its agent pulls, makes so and tells."""
