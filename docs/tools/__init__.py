"""How the documentation is made: the generated pages, the site, and the check of every link."""
