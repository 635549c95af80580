"""What decides about a shared runtime: who may submit where, and who pays for what of it."""
