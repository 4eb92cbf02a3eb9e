"""Programs that reach for the machine, its network, its other processes or more rights.

They answer right once they have reached it. Signals to others are signal 0, which asks whether they could be sent;
where these are shown, nothing of the machine is changed.
"""

from tests.attacks import reached_files, reached_rights
from tests.attacks.corpus import Attack

NEEDS: dict[str, str] = {
    "raw-socket": "root",
    "packet-socket": "root",
    "handle-opened": "root",
    "mount-of-a-tmpfs": "root",
    "chroot-to-a-folder": "root",
    "namespaces-of-another": "root",
    "fsopen": "root",
    "another-user": "root",
    "host-name-set": "root",
    "block-device-made": "root",
    "bpf-map": "root",
    "log-of-the-kernel": "root",
    "typing-into-a-terminal": "root",
    "user-namespace": "user namespaces",
    "root-in-a-user-namespace": "user namespaces",
    "socket-of-io-uring": "io_uring",
    "user-faults": "userfaultfd",
    "counters-of-the-processor": "perf_event_open",
    "keys-kept": "keyctl",
    "memory-of-the-parent": "ptrace of its equals",
    "memory-of-the-parent-by-a-call": "ptrace of its equals",
    "descriptor-of-the-parent": "ptrace of its equals",
}
"""What plain exec must have of the machine for these to work there; all others work for every user, everywhere."""

ATTACKS: list[Attack] = [*reached_files.ATTACKS, *reached_rights.ATTACKS]
