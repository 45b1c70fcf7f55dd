"""The commands on preferences and their options, compatible with the reference system's."""

from __future__ import annotations

from judgment.cli.table import Command, Option

_CODE = "judgment.cli.preferences"

_KEY = Option("key", "The preference's key, for example dining.cuisine.thai.", required=True)
_FOR_PLATFORM = Option("--platform", "As seen on this platform, with its overrides.", shown="NAME")
_HEARD_ON = Option("--platform", "Where it was said, for example codex.", shown="NAME")
_AGENT = Option("--agent", "Which agent heard it.", shown="NAME")
_SESSION = Option("--session", "In which session it was said.", shown="ID")
_AUDIENCE = Option(
    "--audience", "Who: a name of your choice, the same as in get --for.", required=True
)
_GLOB = Option(
    "--key-glob",
    "Which keys: exact, dining.* (all beneath), dining.*.mild (one segment), or * (all).",
    required=True,
    shown="GLOB",
)
_LEVEL = Option(
    "--level",
    "read: may see them; solve: may also decide with them.",
    "choice",
    ("read", "solve"),
    default="read",
)

_STATEMENT = (
    Option("--key", "Dotted key, for example dining.cuisine.thai.", required=True, shown="KEY"),
    Option("--value", "Any JSON value; - reads it from stdin.", required=True, shown="JSON"),
    Option(
        "--strength",
        "From -1 (aversion) to 1 (wish). A fact's is 1 unless given.",
        "number",
        shown="NUMBER",
    ),
    Option("--kind", "What it is.", "choice", ("preference", "fact"), default="preference"),
    Option("--scope", "global, or platform:NAME.", default="global", shown="SCOPE"),
    Option("--confidence", "From 0 to 1.", "number", default=1.0, shown="NUMBER"),
    Option(
        "--half-life",
        "Days until it weighs half, or null for never. [default: 90; facts: null]",
        shown="DAYS",
    ),
    Option("--observed-at", "When it was said (ISO 8601). [default: now]", shown="TIME"),
    Option("--supersedes", "The id of the signal that it replaces.", shown="ID"),
    Option("--corrects", "Replace whatever holds for this key now.", "flag"),
)

_CONSENT = Command(
    "consent",
    "Who else may see which preferences.",
    children=(
        Command(
            "grant",
            "Open keys to an audience, or close them.",
            f"{_CODE}.consent:grant",
            (
                _GLOB,
                _AUDIENCE,
                _LEVEL,
                Option("--expires", "Until when (ISO 8601). [default: until revoked]"),
                Option("--deny", "Close these keys to the audience instead.", "flag"),
                Option("--lift", "End a deny of exactly these keys and this audience.", "flag"),
            ),
        ),
        Command(
            "revoke",
            "Take back what was granted.",
            f"{_CODE}.consent:revoke",
            (_GLOB, _AUDIENCE._replace(about="Who; * for everybody."), _LEVEL),
            more="For these keys and this level and above: narrower than the grant narrows it.",
        ),
        Command("list", "The whole history of consent, oldest first.", f"{_CODE}.consent:history"),
    ),
)

_LEDGER = Command(
    "ledger",
    "What was disclosed or refused, to whom.",
    children=(
        Command(
            "show",
            "The entries, newest first.",
            f"{_CODE}.ledger:show",
            (Option("--limit", "At most so many.", "count", default=100),),
        ),
        Command(
            "verify",
            "Check the hash chain; exit status 1 when it is broken.",
            f"{_CODE}.ledger:verify",
        ),
        Command(
            "begin-again",
            "Put a broken ledger aside and begin an empty one.",
            f"{_CODE}.ledger:begin_again",
            (Option("--yes", "Do not ask.", "flag"),),
            more="Until then nothing is shown to anybody. The old one stays among the versions.",
        ),
    ),
)

_READING = (
    Command(
        "get",
        "The compiled preferences.",
        f"{_CODE}.reading:get",
        (
            Option("keys", "Only these keys; globs as in consent.", many=True),
            _FOR_PLATFORM,
            Option("--for", "Disclose to this audience.", into="audience", shown="AUDIENCE"),
            Option(
                "--purpose",
                "What the audience will do with them.",
                "choice",
                ("read", "solve"),
                default="read",
            ),
        ),
        quick=True,
        more="With --for, only what that audience may see; the ledger says so first.",
    ),
    Command(
        "inject",
        "The block that a session starts with.",
        f"{_CODE}.reading:inject",
        (
            Option(
                "--platform",
                "For this platform, within its budget.",
                required=True,
                shown="NAME",
            ),
            Option(
                "--format",
                "hook: a session hook's JSON; text: the block; json: the block and its figures.",
                "choice",
                ("text", "hook", "json"),
                default="text",
                into="form",
            ),
        ),
        quick=True,
        harmless="always",
        more="Always exits 0, and prints nothing when there is nothing to say; doctor tells why.",
    ),
)

_CAPTURING = (
    Command(
        "capture",
        "Keep one statement of preference.",
        f"{_CODE}.capturing:capture",
        (*_STATEMENT, _HEARD_ON._replace(required=True), _AGENT, _SESSION),
    ),
    Command(
        "capture-batch",
        "Keep many statements, all of them or none.",
        f"{_CODE}.capturing:capture_batch",
        (
            Option(
                "--file",
                "A JSON array, or one JSON object a line; - reads stdin.",
                required=True,
                shown="FILE",
            ),
            _HEARD_ON,
            _AGENT,
            _SESSION,
        ),
        more="All of them are checked before the first is kept.",
    ),
    Command(
        "notice",
        "Put a statement of this session aside.",
        f"{_CODE}.queueing:notice",
        (
            *_STATEMENT,
            _HEARD_ON._replace(required=True),
            _AGENT,
            _SESSION._replace(required=True),
        ),
        more="With when it was said; drain keeps it. Needs no network.",
    ),
    Command(
        "drain",
        "Keep what was noticed in a session.",
        f"{_CODE}.queueing:drain",
        (
            Option("--platform", "Whose sessions.", required=True, shown="NAME"),
            Option("--session", "Which session. [default: all of the platform]", shown="ID"),
            _AGENT,
            Option("--hook", "Read the session from a session hook's JSON on stdin.", "flag"),
        ),
        harmless="--hook",
        more="In order, and once, however often it is called and by whom.",
    ),
)

_DECIDING = (
    Command(
        "why",
        "Every statement about a key, and why it holds or not.",
        f"{_CODE}.explanations:why",
        (_KEY, _FOR_PLATFORM),
    ),
    Command(
        "diff",
        "What changed between two documents.",
        f"{_CODE}.explanations:diff",
        (
            _FOR_PLATFORM,
            Option("--from", "A compiled document.", into="before", shown="FILE"),
            Option("--to", "A compiled document.", into="after", shown="FILE"),
        ),
        more="Without --from and --to: the version before, and the present one.",
    ),
    Command(
        "solve",
        "Rank options for a group, with reasons.",
        f"{_CODE}.solving:solve",
        (
            Option("--options", "JSON: [{id, keys}]; - reads stdin.", shown="FILE"),
            Option(
                "--participants",
                "JSON: each participant's compiled document or weights, by name; - reads stdin.",
                shown="FILE",
            ),
            Option(
                "--policy",
                "How opinions are joined.",
                "choice",
                ("weighted-sum", "hard-veto", "maximin", "nash", "least-misery"),
                default="weighted-sum",
            ),
            Option(
                "--veto-threshold",
                "With hard-veto: a weight below it removes the option.",
                "number",
                default=-0.5,
                shown="NUMBER",
            ),
            Option(
                "--normalise",
                "mean: an option's keys are averaged; none: they are added up.",
                "choice",
                ("mean", "none"),
                default="mean",
            ),
            Option("--constraints", "JSON: [{kind, subject, amount, by}].", shown="FILE"),
            Option("--forced-order", "Break ties by id, and say so.", "flag"),
            Option("--words", "Tell the trace in plain words too.", "flag"),
            Option("--ballots", "Instead: ranked ballots, as PrefLib's or JSON.", shown="FILE"),
            Option(
                "--method",
                "How ballots are counted. [default: condorcet]",
                "choice",
                ("borda", "condorcet"),
            ),
            Option(
                "--verify",
                "Instead: derive each number of an answer's trace again.",
                into="trace",
                shown="FILE",
            ),
        ),
        more=(
            "A compiled document counts as it weighs now. With the hosted store a participant may "
            "be {self: true} or {owner: ID}: the API asks consent of level solve. --verify prints "
            "what in a trace does not follow from its inputs; exit status 1 where there is any."
        ),
    ),
)

_KEEPING = (
    Command(
        "onboard",
        "Set up the store.",
        f"{_CODE}.keeping:onboard",
    ),
    Command(
        "compile",
        "Bring the documents up to date.",
        f"{_CODE}.keeping:compile_documents",
        more="Sends what is still waiting too, where there is another store to send it to.",
    ),
    Command(
        "install-hooks",
        "Start an agent's sessions with them.",
        f"{_CODE}.keeping:install_hooks",
        (
            Option("--platform", "Which agent.", required=True, shown="NAME"),
            Option(
                "--target-dir",
                "A project. [default: all of your projects]",
                shown="FOLDER",
            ),
            Option("--uninstall", "Take the hooks out again.", "flag"),
            Option("--dry-run", "Only say what would be written.", "flag"),
        ),
    ),
    Command(
        "doctor",
        "Check the store.",
        f"{_CODE}.keeping:doctor",
        more="Exit status 1 when something needs you.",
    ),
    Command(
        "forget",
        "Delete every statement about a key.",
        f"{_CODE}.keeping:forget",
        (_KEY, Option("--yes", "Do not ask.", "flag")),
        more="From the store, its documents and the queue of this machine.",
    ),
)

COMMANDS: tuple[Command, ...] = (*_READING, *_CAPTURING, *_DECIDING, _CONSENT, _LEDGER, *_KEEPING)
