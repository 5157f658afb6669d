"""Do it for real: send the bytes between processes and time them."""
