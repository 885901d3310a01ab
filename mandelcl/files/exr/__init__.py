"""OpenEXR files as Kalles Fraktaler and Fraktaler-3 write them: counts, distances, directions, colours as light."""
