"""What a group should choose, with every number shown: options and opinions in, a ranking out.

Pure and without a model: the same question gives the same answer, whatever the order or the names
in it, and `verify` derives each number of an answer again. Who may use whose opinions is not
decided here.
"""

from judgment.preferences.solver.answer import solution_json, solution_object
from judgment.preferences.solver.ballots import Ballot, Count, Standing, count
from judgment.preferences.solver.options import Constraint, Opinion, Option, Participant
from judgment.preferences.solver.preflib import ballots_in
from judgment.preferences.solver.reading import (
    ballots_from,
    constraints_from,
    options_from,
    parsed,
    participants_from,
)
from judgment.preferences.solver.solving import Excluded, Ranked, Solution, solve
from judgment.preferences.solver.verification import verify
from judgment.preferences.solver.words import words

__all__ = [
    "Ballot",
    "Constraint",
    "Count",
    "Excluded",
    "Opinion",
    "Option",
    "Participant",
    "Ranked",
    "Solution",
    "Standing",
    "ballots_from",
    "ballots_in",
    "constraints_from",
    "count",
    "options_from",
    "parsed",
    "participants_from",
    "solution_json",
    "solution_object",
    "solve",
    "verify",
    "words",
]
