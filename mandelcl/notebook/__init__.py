"""mandelcl in notebooks: what shows itself, and the explorer as a widget."""
