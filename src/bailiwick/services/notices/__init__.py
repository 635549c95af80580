"""What people are told: what a record means to whom, what each chose, inboxes, and mail."""
