"""What can be asked over HTTP, and everything about each: one row an action, one file a noun.

From these rows come the server's routes, its OpenAPI document, the tests that another's scope is
closed, and the client's types. No path of the API stands anywhere else. ``table`` has them all; a
client that asks for one thing imports that noun's file alone.
"""
