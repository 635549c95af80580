"""Who may ask for what, and who may evict whom."""
