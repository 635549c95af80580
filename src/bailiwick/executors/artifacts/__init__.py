"""What apps are made of, brought here: fetched by digest, checked to the last byte, kept once."""
