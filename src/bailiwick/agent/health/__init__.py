"""What is wrong with this machine: readings against limits, XIDs, a short burn-in of GPUs."""
