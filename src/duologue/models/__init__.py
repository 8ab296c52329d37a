"""Models for speech and language: the catalogue and the cache of models, and the code that pulls and runs them.

Importing this package loads and fetches nothing. Rule: a model comes from a package whose name and version are fixed,
and its files have fixed SHA-256 hashes. The package is fetched by pip or npm, never from a URL.
"""

from .cache import ModelMissing, cache_folder, is_present, model_path, verify
from .catalogue import DEMO, MODELS, Model, Package, PackagePart, UnknownModel, catalogue_of

__all__ = [
    "DEMO",
    "MODELS",
    "Model",
    "ModelMissing",
    "Package",
    "PackagePart",
    "UnknownModel",
    "cache_folder",
    "catalogue_of",
    "is_present",
    "model_path",
    "verify",
]
