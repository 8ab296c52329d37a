"""Models of speech and language: which there are, where they lie, how they get there, how they are run. One file
for each step.

Nothing is loaded or fetched by importing it. Rule: a model comes from
a pinned package by name, version and SHA-256, through the package installers and never by an address.
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
