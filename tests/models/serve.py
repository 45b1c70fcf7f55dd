"""Serves one GGUF file as llama.cpp does, OpenAI-compatible, on 127.0.0.1, with one thread.

Run by the interpreter of its own environment: `python serve.py <file>`. Writes the address it
listens at to its output, and ends when its input does.
"""

import sys

import xllamacpp


def main() -> None:
    """Listen until nobody holds the other end."""
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # more of them stand in each other's way on a busy machine
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
