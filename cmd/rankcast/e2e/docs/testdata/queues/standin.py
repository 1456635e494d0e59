"""What the stand-ins of the packages for queues share: their messages, and the check that each is acknowledged."""

import atexit
import json
import os


def messages(member):
    """Return numbers and bodies: three messages, of which one is delivered twice."""
    return [(n, json.dumps({"member": member, "score": 3})) for n in (1, 2, 2, 3)]


def require_all(acknowledged):
    """Fail the program unless it has acknowledged each message by its end."""

    def check():
        if acknowledged != [1, 2, 2, 3]:
            print("acknowledged:", acknowledged, flush=True)
            os._exit(1)

    atexit.register(check)
