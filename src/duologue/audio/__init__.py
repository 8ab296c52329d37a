"""Audio as arrays of samples: frames, levels, resampling, telephone codecs and files.

This package needs numpy, which `duologue[speech]` installs. So only modules that process audio may import this package.
Rule: samples are float32, mono, between -1 and 1; bytes are 16-bit little-endian PCM.
"""

from __future__ import annotations

try:
    import numpy  # noqa: F401 - only to say what is missing
except ModuleNotFoundError as missing:
    if missing.name != "numpy":
        raise
    raise ModuleNotFoundError("audio needs numpy: pip install 'duologue[speech]'", name="numpy") from None
