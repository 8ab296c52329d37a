"""Sound as numbers: frames, levels, rates, telephone codes and files.

Needs numpy, which `duologue[speech]` brings; nothing outside the speech parts imports this package.
Rule: samples are float32, mono, between -1 and 1; bytes are 16-bit little-endian PCM.
"""

from __future__ import annotations

try:
    import numpy  # noqa: F401 - only to say what is missing
except ModuleNotFoundError as missing:
    if missing.name != "numpy":
        raise
    raise ModuleNotFoundError("sound needs numpy: pip install 'duologue[speech]'", name="numpy") from None
