"""What runs inside the sandbox. These modules import the standard library and each other, nothing else.

Their sources are sent to the zygote when it starts, so no folder of ours has to be readable in there. They share a
process with untrusted code: nothing that they say is trusted by the parent.
"""
