"""`python -m mandelcl`."""

from mandelcl.cli import main

if __name__ == "__main__":
    main()
