"""Runs inside mem0's own environment: a list of statements in, then `read` lines answered.

Storing asks an embedding model; a constant vector stands in for it. Reading asks none.
"""

from __future__ import annotations

import json
import os
import sys

DIMENSIONS = 16
OWNER = "owner"


class ConstantEmbedding:
    """The same vector for every text."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One vector."""
        return [0.1] * DIMENSIONS

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """A vector for each text."""
        return [self.embed(text) for text in texts]


def open_memory(home: str):
    """A local memory whose files lie under `home`."""
    from mem0 import Memory

    store = {"path": f"{home}/qdrant", "collection_name": "judgment", "on_disk": True}
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {**store, "embedding_model_dims": DIMENSIONS},
            },
            "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": f"{home}/history.db",
        }
    )
    memory.embedding_model = ConstantEmbedding()
    return memory


def main() -> None:
    """Answer each input line with one line: a JSON list of the memories' texts."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    memory = open_memory(os.environ["MEM0_DIR"])
    count = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message != "read":
            for statement in message:
                memory.add(statement, user_id=OWNER, infer=False)
            count = len(message)
        found = memory.get_all(filters={"user_id": OWNER}, top_k=max(count, 1))
        answers.write(json.dumps([one["memory"] for one in found["results"]]) + "\n")
        answers.flush()


main()
