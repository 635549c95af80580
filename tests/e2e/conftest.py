"""Every test here has a product that waits for what lags."""

from tests.support.invoice_cli import invoice_command
from tests.support.patience import patient_product

__all__ = ["invoice_command", "patient_product"]
