"""Has AgentFly's interface as it is documented, as far as the end of a rollout needs it, and shares no code with it.

Where AgentFly starts a container, this notes that it would have.
"""
