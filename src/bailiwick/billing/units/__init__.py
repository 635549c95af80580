"""What apps count themselves, on an invoice: lines of their own, apart from what was held."""
