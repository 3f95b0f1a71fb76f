"""Start the `temporality` command.

The project's root comes first on the path: other packages on a machine may be called `workflows` too.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.argv[0] = "temporality"

from cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
