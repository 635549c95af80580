"""What has become old for somebody: nouns alone, for whoever keeps a page new."""
