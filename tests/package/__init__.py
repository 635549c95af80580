"""What people install: the archive, the wheels, the image; tried as a stranger would."""
