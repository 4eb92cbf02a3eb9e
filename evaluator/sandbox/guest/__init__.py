"""The code that runs inside the sandbox. These modules import only the standard library and each other.

Their sources are sent to the zygote when it starts, so none of our folders has to be readable in there. They share a
process with untrusted code: the parent trusts none of their messages.
"""
