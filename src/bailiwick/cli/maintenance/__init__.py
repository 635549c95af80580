"""What `bailiwick maintenance` does beside windows."""
