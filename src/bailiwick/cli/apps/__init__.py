"""Instances of apps on the command line: what is typed, what is asked, what is shown."""
