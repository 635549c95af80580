"""What is sealed of programs that people run inside running jobs, and of files they copy."""
