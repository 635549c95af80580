"""Logging in through a provider (OpenID Connect): who comes, by whose word, with which roles."""
