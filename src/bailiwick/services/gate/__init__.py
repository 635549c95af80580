"""The gate as one server process keeps it: nonces handed out, keys taken up, evidence judged."""
