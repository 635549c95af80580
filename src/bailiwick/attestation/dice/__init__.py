"""Device identity: chains of DICE certificates, of either family, and what their layers say."""
