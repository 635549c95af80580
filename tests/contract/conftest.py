"""Every test here has a product that waits for what lags."""

from tests.support.patience import patient_product

__all__ = ["patient_product"]
