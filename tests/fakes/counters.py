"""Rate-limit counters in memory; held to the same port tests as the real ones."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from judgment.kit.errors import Unavailable

if TYPE_CHECKING:
    from judgment.access.limits import Limit


class MemoryCounters:
    """Counters of this process; `down` makes them unreachable, `calls` counts attempts."""

    def __init__(self) -> None:
        self.down = False
        self.calls = 0
        self._uses: Counter[tuple[str, str, int]] = Counter()
        self._lock = threading.Lock()

    def take(self, subject: str, limit: Limit, now: datetime) -> bool:
        """See `judgment.access.limits.Counters`."""
        with self._lock:
            self.calls += 1
            if self.down:
                raise Unavailable
            key = (limit.name, subject, limit.window(now)[0])
            if self._uses[key] >= limit.most:
                return False
            self._uses[key] += 1
            return True

    def uses(self, name: str, subject: str) -> int:
        """Uses counted under that limit's name, over all windows."""
        wanted = (name, subject)
        return sum(n for (limit, who, _), n in self._uses.items() if (limit, who) == wanted)
