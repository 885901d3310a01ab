"""`mandelcl explore`: a server of pixels on this machine, and the page that asks it for them."""
