"""What `bailiwick booking` does beside single bookings, and what all of it shares."""
