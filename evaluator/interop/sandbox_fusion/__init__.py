"""SandboxFusion's `POST /run_code` on Rollscope's sandbox; `rollscope serve sandbox-fusion` runs it."""
