"""Apps: the catalog, who may use what how, and what apps are made of."""
