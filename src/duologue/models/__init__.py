"""Models of speech and language: the catalogue, the cache, how they are pulled and how they are run.

Importing this package loads and fetches nothing. Rule: a model comes from a package that is pinned by name, version and
SHA-256, through the package installers and never from a URL.
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
