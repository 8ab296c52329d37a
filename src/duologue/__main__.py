"""`python -m duologue` is `duologue`."""

from duologue.cli.entry import main

if __name__ == "__main__":
    main()
