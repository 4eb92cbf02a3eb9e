"""NeMo Gym's resource servers on Rollscope's grading. See docs/nemo-gym.md."""
