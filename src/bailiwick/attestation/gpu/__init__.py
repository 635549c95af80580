"""GPU reports: SPDM measurements against signed golden values."""
