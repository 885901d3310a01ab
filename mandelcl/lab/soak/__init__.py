"""Devices under load for a long time: known jobs again and again, every word compared, the speed watched."""
