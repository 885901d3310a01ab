"""Several devices on one picture: a process each, none trusted; `mandelcl.worker` is what runs in them."""
