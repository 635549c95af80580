"""Windows of maintenance: announced, drained in time, and over again."""
