"""The public contract: what may be asked over HTTP and what is answered, as strict models."""
