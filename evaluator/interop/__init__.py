"""Other systems' contracts, on top of the library."""
