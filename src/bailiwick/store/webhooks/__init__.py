"""How far each webhook was sent events, and what became of those that were."""
