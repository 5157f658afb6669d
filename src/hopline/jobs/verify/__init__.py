"""Whether hopline computes what it should: known cases with their answers, and the founding documents' figures."""
