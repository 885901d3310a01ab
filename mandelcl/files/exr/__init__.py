"""OpenEXR files in the conventions of Kalles Fraktaler and Fraktaler-3: counts, distances, directions, linear RGB."""
