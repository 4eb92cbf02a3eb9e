"""The judge of the `similarity` grader: an OpenAI-compatible server, its prompt, its score and its cache."""
