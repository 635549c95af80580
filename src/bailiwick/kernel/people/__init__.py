"""Who exists and who may do what: tenants, projects, members, accounts, tokens, refusals."""
