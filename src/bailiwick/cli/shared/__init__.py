"""What commands share: who asks, the options, and how a result leaves."""
