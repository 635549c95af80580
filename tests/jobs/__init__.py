"""Jobs with a real replica, a real executor and real processes."""
