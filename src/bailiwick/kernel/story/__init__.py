"""In the course of what things happen: by whose request, change or evidence."""
