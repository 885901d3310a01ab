"""Help for commands with many options, in groups. The groups' titles contain the words that people search for."""

import click

_OTHER = "Others"

# The options of each group, by their Python names, in the order of the help text.
_GROUPS = {
    "Place: where, how large, named places, locations": (
        *("at", "center", "zoom", "region", "rotate", "like", "size", "anchor", "auto_skew"),
        *("begin", "from_zoom", "via", "end", "to_zoom", "turn", "turns"),
    ),
    "Formula: fractal type, Julia set, max iterations, bailout": (
        *("formula", "julia", "iterations", "escape_radius"),
    ),
    "Colours: palette, gradient, antialiasing (supersampling), slopes, distance estimation (DE)": (
        *("palette", "colour_by", "cycle", "transfer", "equalise", "offset", "inside", "light", "boundary", "stripes"),
        *("decomposition", "samples", "dither", "transparent_inside", "height_map", "depth"),
    ),
    "Film: speed, length, codec, sound, caption": (
        *("fps", "speed", "seconds", "ease", "hold", "reverse", "codec", "quality", "audio", "caption", "strip"),
    ),
    "Files: output, formats, reports": (
        *("outputs", "output", "keys", "planes", "compress", "rectangles", "digest", "as_json", "json_wanted", "quiet"),
    ),
    "Page: browser, port, remote access, saving": (
        *("no_browser", "port", "new_token", "host", "allow_remote", "public_names", "save_dir", "max_save"),
    ),
    "Precision: arithmetic, perturbation, deep zoom, proofs": (
        *("number", "rounding", "method", "reference", "algorithm", "strict", "no_shortcuts", "certify"),
        *("certify_for", "confirm"),
    ),
    "Devices: GPU, CPU, cluster, self-test": (
        *("devices", "cluster", "cluster_wait", "no_self_test", "budget", "blocks"),
    ),
    "Long renders: resume, timeline": ("resume", "trace"),
}


class Grouped(click.Command):
    """A command that lists its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        lines = {
            option.name: line
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and (line := option.get_help_record(ctx)) is not None
        }
        groups = {title: [lines.pop(name) for name in names if name in lines] for title, names in _GROUPS.items()}
        for title, rows in {**groups, _OTHER: list(lines.values())}.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
