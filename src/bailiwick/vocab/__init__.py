"""The closed words and plain values every other package speaks in.

Standard library only. A word's spelling here is its spelling on the wire, in the journal,
in a metric label and in the manual; a sentence for people is made beside it by
``human_summary`` and is never compared or parsed.
"""
