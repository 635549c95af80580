"""Billing: what work costs. For now the rate card; accounts and invoices stand on it."""
