"""At most one regeneration per owner in a window, and the last move is never forgotten.

One row per owner holds it all (`judgment.summary_state`):

- `request`, in the transaction of the move: `requested_seq` counts up, and `run_after` becomes
  the end of the window that the last claim began, or now. While it is set, more moves only count.
- `claim`, by whoever gets the wake-up: one UPDATE takes what is due and free, so of many
  deliveries one wins. It clears `run_after`, begins a window and a lease, and remembers in
  `claimed_seq` the moves it covers. No two claims have the same one, because `run_after` is only
  ever set by something that counts `requested_seq` up; it is the fence that `finish` checks.
- `finish`, in the transaction that writes the texts: `done_seq = claimed_seq`, lease over. Moves
  made meanwhile have found `run_after` empty and set it to the window's end: the trailing edge.
- `overdue`, each minute: what is wanted and has nobody to do it (a worker died: no `run_after`
  and no lease; a wake-up was lost: `run_after` past by more than `GRACE`) is armed and sent again.

Messages are hints: lost ones are swept, early ones sent again, doubled ones find nothing to claim.

The clock is a value, and may have been moved back. No moment in the row can honestly lie more
than a window (`run_after`) or a lease (`lease_until`) ahead of now, give or take the `SLACK` by
which the clocks of several hosts differ. What does was written before the clock moved, and
`request` and `overdue` pull it in. As they run after what they correct, the true time between two
claims only grows. A clock that jumps forward shortens one window by its jump.

Source: seed 000 §10.4, reference/aws.md §5, ADR 079.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.summary import store
from judgment.summary.model import Due

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.summary.model import Claim, Finished, Overdue

WINDOW = timedelta(minutes=10)
LEASE = timedelta(seconds=150)
"""Longer than the door's timeout, so that a lease that is over belongs to nobody alive."""
GRACE = timedelta(seconds=60)
SLACK = timedelta(seconds=60)
SWEPT_AT_ONCE = 200


def request(
    tx: Transaction,
    user_id: UUID,
    correlation_id: str,
    now: datetime,
    window: timedelta = WINDOW,
    *,
    is_retry: bool = False,
) -> Due:
    """Want a new summary, in the caller's transaction; `is_retry` when no move asks for it."""
    state = store.lock_state(tx, user_id)
    run_after = store.request(
        tx,
        user_id,
        correlation_id,
        now=now,
        window=window,
        lease=LEASE,
        slack=SLACK,
        is_retry=is_retry,
    )
    return Due(run_after, became_pending=state is None or state.run_after is None)


def claim(tx: Transaction, user_id: UUID, now: datetime) -> Claim | None:
    """Begin what is due; None for whoever comes early, twice, or while somebody is at it."""
    return store.claim(tx, user_id, now=now, lease=LEASE)


def next_look(tx: Transaction, user_id: UUID) -> datetime | None:
    """When somebody whose claim failed should look again; None where nothing is wanted."""
    return store.next_look(tx, user_id)


def finish(
    tx: Transaction, user_id: UUID, claimed: Claim, finished: Finished | None, now: datetime
) -> bool:
    """Close the claim; False when it is no longer the last one, or the owner is gone.

    `finished` is None where nothing was written because nothing had moved.
    """
    return store.finish(tx, user_id, claimed.seq, finished, now=now)


def overdue(
    tx: Transaction, now: datetime, window: timedelta = WINDOW, limit: int = SWEPT_AT_ONCE
) -> Sequence[Overdue]:
    """Those whose summary is wanted and in nobody's hands, armed again, as judgment_worker."""
    return store.overdue(
        tx, now=now, window=window, lease=LEASE, slack=SLACK, grace=GRACE, limit=limit
    )
