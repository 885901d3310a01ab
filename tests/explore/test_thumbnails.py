"""The thumbnails that come with the package."""

from mandelcl.explore.thumbnails import own_pictures, shipped, shipped_path


def test_every_location_and_formula_has_its_thumbnail() -> None:
    """`scripts/thumbnails` draws them anew after a change."""
    pictures = own_pictures().values()
    assert [picture for picture in pictures if shipped(picture) is None] == []
    wanted = {shipped_path(picture) for picture in pictures}
    assert {*next(iter(wanted)).parent.glob("*.png")} == wanted
