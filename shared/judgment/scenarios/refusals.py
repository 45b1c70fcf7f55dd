"""What more than one use case of rounds refuses with, in one wording."""

from __future__ import annotations

NO_OWNER = "There is no such owner."
SYNCS_OWN = "Your judgment profile is kept by a Sync app; play your rounds there."
