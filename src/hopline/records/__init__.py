"""What came out: measured tables and samples, fits, estimates."""
