"""What work costs and who may spend it: prices, budgets, findings, invoices."""
