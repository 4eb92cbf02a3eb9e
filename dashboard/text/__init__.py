"""Code, values and differences as people read them."""
