"""The images of one machine: fetched from a registry by digest, listed, unpacked, removed."""
