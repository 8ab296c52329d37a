"""Makes `python -m duologue` run the `duologue` command."""

from duologue.cli.entry import main

if __name__ == "__main__":
    main()
