"""The version of the package, which its own modules write into files and messages."""

__version__ = "0.2.0"
