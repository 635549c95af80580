"""What others are told of what happened to apps: records of the journal as CloudEvents, signed."""
