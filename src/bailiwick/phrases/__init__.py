"""Sentences for closed words and their numbers, made once: for the command line, the demo, the web.

Rules:

- A sentence is made here, from a word and the numbers of its decision; nothing is guessed and
  nothing is left out. Nobody reads a sentence back.
- Every closed word has its sentence; one without is a type error or fails a test.
- Two voices: in a sentence the word does not show; beside a word that shows, its numbers do.
"""
