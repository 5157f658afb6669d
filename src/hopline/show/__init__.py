"""Make text and pictures of what the other rooms found."""
