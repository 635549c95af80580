"""Seeing what happens: logs, spans and metrics, here and by OpenTelemetry."""
