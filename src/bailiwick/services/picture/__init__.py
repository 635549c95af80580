"""The whole fleet in one small answer: which GPU is whose, drawn once for all who may see it."""
