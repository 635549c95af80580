"""TPM 2.0: quotes, registers, the boot log, keys and credentials."""
