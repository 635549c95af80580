"""What projects of a tenant owe one another for workers of a shared runtime, on an invoice."""
