"""`python -m evaluator` and `python -m rollscope` run the command."""

from evaluator.cli import main

if __name__ == "__main__":
    main()
