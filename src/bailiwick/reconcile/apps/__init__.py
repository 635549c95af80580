"""What a leading replica does for instances of apps: members become jobs, and jobs' ends count."""
