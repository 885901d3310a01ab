"""The version of the package, which its own modules write into files and messages."""

__version__ = "0.3.0.dev0"
