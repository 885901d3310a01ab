"""What a job may name, and defaults that users see: apart from what computes, so that `--help` need not load that."""

NUMBERS = ("float", "double", "fp128")
ROUNDINGS = ("fused", "separate", "fixed")
METHODS = ("direct", "perturbation")
INNER_METHODS = ("bounded",)  # of a stage of certification: no command line names it
PERTURBED_NUMBERS = ("double", "float")
DEVICE_TYPES = ("cpu", "gpu", "accelerator")
ALGORITHMS = ("escape", "border", "auto")
PALETTES = (
    *("coursework", "classic", "ember", "ice", "forest", "silver", "grey"),
    *("spectrum", "aurora", "dusk", "parchment"),
)
KEPT_PLANES = ("smooth", "distance", "last", "certified")  # what may be kept of a pixel beside its count
TRANSFERS = ("root4", "root2", "log", "linear")
DEFAULT_PALETTE = "classic"
PALETTE_SUFFIXES = (".map", ".ugr", ".ual", ".gpl", ".ggr", ".kfp", ".txt", ".hex", ".css", ".json")  # of files

TUNING_S = 25.0  # for a device and number
PATIENCE_S = 30.0  # for a row of a study
