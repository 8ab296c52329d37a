"""How many files and connections a server process may have open at once.

Operating systems often allow a process 1,024 by default, because some old programs can't use more. A server with 500
conversations needs more, and a few hostile clients could use up the rest. Rule: the limit is only raised, and never
above what the administrator allows.
"""

from __future__ import annotations

import contextlib

OPEN_FILES = 65_536


def raise_limit() -> None:
    """Let this process open up to OPEN_FILES files, or as many as are allowed. Does nothing on systems without such a
    limit."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # macOS has another limit for all processes
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
