"""Read and write other tools' files; what belongs here knows one tool's layout and turns it into ``records``."""
