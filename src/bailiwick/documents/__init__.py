"""Files that people write: YAML or JSON, read with the line and column of every mistake."""

from bailiwick.documents.document import MarkedDocument
from bailiwick.documents.problems import DocumentProblem, DocumentRefused, Place, nearest_name

__all__ = ["DocumentProblem", "DocumentRefused", "MarkedDocument", "Place", "nearest_name"]
