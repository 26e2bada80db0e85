"""Where links and frames are, and how they move."""
