"""`python -m ghost_cli` is the command `ghost`."""

from __future__ import annotations

import sys

from ghost_cli.main import main

sys.exit(main())
