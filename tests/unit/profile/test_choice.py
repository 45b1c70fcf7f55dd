"""The choice model finds what it is given, says how sure it is, and meets the published figures."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from judgment.profile import choice
from tests.unit.profile.real_people import real_people

TRUE = (1.5, -1.0, 0.0)


def simulated(weights: tuple[float, ...], many: int, seed: int) -> list[choice.Task]:
    dice = random.Random(seed)
    tasks = []
    for _ in range(many):
        options = tuple(tuple(dice.random() for _ in weights) for _ in range(4))
        chances = choice.probabilities(weights, options)
        tasks.append(choice.Task(options, dice.choices(range(4), chances)[0]))
    return tasks


def dense_fit(tasks: list[choice.Task], sd: float) -> tuple[np.ndarray, np.ndarray]:
    """The same posterior by numpy and plain gradient steps with the exact curvature."""
    size = len(tasks[0].options[0])
    weights = np.zeros(size)
    for _ in range(200):
        slope, curve = -weights / sd**2, np.eye(size) / sd**2
        for task in tasks:
            x = np.array(task.options)
            p = np.exp(x @ weights - (x @ weights).max())
            p /= p.sum()
            mean = p @ x
            slope = slope + x[task.chosen] - mean
            curve = curve + (x * p[:, None]).T @ x - np.outer(mean, mean)
        weights = weights + 0.5 * np.linalg.solve(curve, slope)
    return weights, np.linalg.inv(curve)


@pytest.mark.promise("P1-4-build")
def test_the_fit_recovers_a_known_preference_within_its_own_uncertainty() -> None:
    fitted = choice.fit(simulated(TRUE, 2_000, seed=7), choice.neutral_prior(3))
    for index, truth in enumerate(TRUE):
        sd = math.sqrt(fitted.covariance[index][index])
        assert abs(fitted.weights[index] - truth) < 3.5 * sd
        assert sd < 0.2
    assert abs(fitted.z(2)) < 3.5
    assert fitted.z(0) > 8
    assert fitted.z(1) < -5


def test_few_choices_are_shrunk_towards_nothing() -> None:
    one = choice.fit(simulated(TRUE, 1, seed=3), choice.neutral_prior(3))
    none = choice.fit([], choice.neutral_prior(3))
    assert max(map(abs, one.weights)) < choice.PRIOR_SD
    assert none.weights == (0.0, 0.0, 0.0)
    assert none.covariance[0][0] == pytest.approx(choice.PRIOR_SD**2)


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_agrees_with_an_independent_solver(seed: int) -> None:
    tasks = simulated((3.0, 0.5, -2.0), 15, seed)
    fitted = choice.fit(tasks, choice.neutral_prior(3))
    weights, covariance = dense_fit(tasks, choice.PRIOR_SD)
    assert fitted.weights == pytest.approx(weights, abs=1e-6)
    assert np.array(fitted.covariance) == pytest.approx(covariance, abs=1e-6)


def test_the_fit_survives_driver_values_far_outside_their_scale() -> None:
    tasks = [choice.Task(((10.0, -10.0), (-10.0, 10.0)), i % 2) for i in range(9)]
    fitted = choice.fit(tasks, choice.neutral_prior(2))
    assert all(map(math.isfinite, fitted.weights))


def test_rows_of_another_length_than_the_prior_are_refused() -> None:
    with pytest.raises(ValueError, match="one value per driver"):
        choice.fit([choice.Task(((1.0,), (0.0,)), 0)], choice.neutral_prior(2))


def test_leaving_a_task_out_names_the_option_that_a_refit_names() -> None:
    tasks = simulated((2.0, -2.0, 1.0), 12, seed=11)
    prior = choice.neutral_prior(3)
    quick = choice.left_out(tasks, choice.fit(tasks, prior))
    for index, task in enumerate(tasks):
        rest = tasks[:index] + tasks[index + 1 :]
        exact = choice.probabilities(choice.fit(rest, prior).weights, task.options)
        assert quick[index] == pytest.approx(exact, abs=0.08)


@pytest.mark.parametrize("seed", range(6))
def test_one_step_without_a_task_is_the_step_that_all_drivers_give(seed: int) -> None:
    """Solved among the options by us, among the drivers by numpy; of 2 to 5 options, any taken."""
    dice = random.Random(seed)
    size = dice.randint(1, 8)
    tasks = []
    for _ in range(30):
        many = dice.randint(2, 5)
        rows = tuple(tuple(dice.uniform(-3, 3) for _ in range(size)) for _ in range(many))
        tasks.append(choice.Task(rows, dice.randrange(many)))
    fitted = choice.fit(tasks, choice.neutral_prior(size))
    weights, curve = np.array(fitted.weights), np.array(fitted.precision)
    for task, found in zip(tasks, choice.left_out(tasks, fitted), strict=True):
        x = np.array(task.options)
        p = np.array(choice.probabilities(weights, task.options))
        away = x - p @ x
        spread = np.einsum("j,ja,jb->ab", p, away, away)
        without = weights - np.linalg.solve(curve - spread, away[task.chosen])
        assert found == pytest.approx(choice.probabilities(without, task.options), abs=1e-9)


def real_tasks() -> list[list[choice.Task]]:
    found = []
    for person in real_people():
        names = sorted(person.decisions[0].options[0].drivers)
        found.append(
            [
                choice.Task(
                    tuple(tuple(o.drivers[n] for n in names) for o in d.options),
                    [o.id for o in d.options].index(d.chosen_option_id),
                )
                for d in person.decisions
            ]
        )
    return found


def accuracy(weights: tuple[float, ...], tasks: list[choice.Task]) -> tuple[int, float]:
    right, loss = 0, 0.0
    for task in tasks:
        chances = choice.probabilities(weights, task.options)
        right += max(range(len(chances)), key=chances.__getitem__) == task.chosen
        loss += sum((p - (i == task.chosen)) ** 2 for i, p in enumerate(chances))
    return right, loss


@pytest.mark.promise("P1-4-build", "P1-5")
def test_six_choices_predict_the_next_six_as_the_published_figures_say() -> None:
    """Reference: pooled 0.451 (Brier 0.641), from six choices of the person 0.590 (0.510).

    They were had with all six attributes and a split of their own; splits alone move ours by 0.012.
    """
    everyone = real_tasks()
    random.Random(0).shuffle(everyone)
    known, unseen = everyone[:180], everyone[180:]
    pooled = choice.fit([t for p in known for t in p], choice.neutral_prior(5, sd=100.0)).weights
    held = sum(len(p[6:]) for p in unseen)
    shared = [accuracy(pooled, p[6:]) for p in unseen]
    own = [accuracy(choice.fit(p[:6], choice.neutral_prior(5)).weights, p[6:]) for p in unseen]
    learned = choice.population(known, 5, rounds=8)
    helped = [accuracy(choice.fit(p[:6], learned).weights, p[6:]) for p in unseen]
    assert sum(r for r, _ in shared) / held == pytest.approx(0.47, abs=0.035)
    assert sum(b for _, b in shared) / held == pytest.approx(0.641, abs=0.02)
    assert sum(r for r, _ in own) / held == pytest.approx(0.590, abs=0.035)
    assert sum(r for r, _ in helped) / held == pytest.approx(0.61, abs=0.035)
    assert sum(b for _, b in helped) / held < sum(b for _, b in own) / held < 0.60
