"""The programs: `judgment`, and `prefs`, which is the same as `judgment prefs`."""

from __future__ import annotations

from judgment.cli.memory.table import COMMANDS as MEMORY_COMMANDS
from judgment.cli.preferences.table import COMMANDS
from judgment.cli.table import Command, Option

_STACK = Option(
    "--stack",
    "A local stack's stack.json, instead of SYNC_API_URL and SYNC_API_KEY.",
    shown="FILE",
)
_OWNER = Option("--owner", "Whose key of the stack file to use.", default="demo", shown="NAME")
_JSON = Option("--json", "Print what the API answered.", "flag", into="as_json")

_COMPLETION = Command(
    "completion",
    "Print the script that makes a shell complete this program's commands.",
    "judgment.cli.completion:completion",
    (Option("shell", "The shell.", "choice", ("bash", "zsh", "fish"), required=True),),
    more=(
        "For bash: eval \"$(prefs completion bash)\" in ~/.bashrc; for zsh the same in ~/.zshrc; "
        "for fish: prefs completion fish > ~/.config/fish/completions/prefs.fish."
    ),
)  # fmt: skip

_CHAT = Command(
    "chat",
    "Talk: one message, or at a terminal a conversation.",
    "judgment.cli.chat.talking:chat",
    (
        Option("message", "What you say; without it, a conversation line by line."),
        Option("--conversation", "Go on with this one instead of a new one.", shown="ID"),
        Option("--project", "From which page you talk.", shown="PAGE"),
        Option("--approve", "What becomes of writes that wait for you.", "choice",
               ("ask", "yes", "no"), default="ask"),
        Option("--json", "Print every event as one line of JSON.", "flag", into="as_json"),
        _STACK._replace(about="A local stack's stack.json, instead of SYNC_API_URL and "
                              "SYNC_OWNER_TOKEN."),
        Option("--owner", "Whose token of the stack file to use.  [default: demo]", shown="NAME"),
    ),
    more=(
        "The assistant's words go to stdout, everything else is said on stderr. Ctrl-C ends the "
        "answer, a second one leaves. Nothing is kept on this machine. Exit status: 0 done, 1 an "
        "error, refused or unavailable, 2 a mistake in what was asked."
    ),
)  # fmt: skip

_ABOUT = "What you prefer: captured, compiled, explained, and shared only with consent."
_MORE = (
    "Results are JSON on stdout, everything else is said on stderr. Exit status: 0 done, 1 refused "
    "or unavailable, 2 a mistake in what was asked. Preferences are files of yours in "
    "JUDGMENT_PREFS_DIR (default: ~/.local/share/judgment/prefs); JUDGMENT_PREFS_STORE=hosted or "
    "fulcra keeps them there too."
)

PREFS = Command("prefs", _ABOUT, children=(*COMMANDS, _COMPLETION), more=_MORE)
JUDGMENT = Command(
    "judgment",
    "Talk, read a judgment profile, keep preferences and a memory, from the command line.",
    children=(
        Command(
            "why",
            "Explain the two scores term by term, and what each signal rests on.",
            "judgment.cli.profile:why",
            (_STACK, _OWNER, _JSON),
        ),
        Command(
            "profile",
            "Print the profile's context block, as an agent receives it.",
            "judgment.cli.profile:profile",
            (_STACK, _OWNER, _JSON),
        ),
        _CHAT,
        PREFS._replace(children=COMMANDS),
        Command(
            "memory",
            "Bring a memory root, or take your memory along as one.",
            children=MEMORY_COMMANDS,
        ),
        _COMPLETION,
    ),
)
