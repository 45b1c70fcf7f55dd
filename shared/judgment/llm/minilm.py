"""all-MiniLM-L6-v2 on this machine, by numpy: embeddings without a provider.

A BERT encoder of six layers, its token vectors averaged and scaled to length 1. Wang et al. 2020,
"MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of Pre-Trained
Transformers"; Reimers and Gurevych 2019, "Sentence-BERT". Weights and tokenizer are pinned files;
they and the libraries are loaded with the first text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judgment.llm.embeddings import Embedded
from judgment.llm.model import ModelFailure

if TYPE_CHECKING:
    from judgment.kit.deadline import Deadline
    from judgment.llm.embeddings import Vector

VERSION = "all-MiniLM-L6-v2"
DIMENSIONS = 384
LONGEST_TOKENS = 256
LONGEST_CHARACTERS = 20_000
TEXTS_AT_ONCE = 16
_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12

Array = Any
"""A float32 array; numpy is imported late and its types with it."""


class MiniLm:
    """The offline default of the role `embedding`. Longer texts are cut at 256 tokens."""

    def __init__(self, weights: Path, tokenizer: Path):
        self._files = weights, tokenizer
        self._loaded: tuple[_Encoder, Any] | None = None

    def embed(self, texts: Sequence[str], *, deadline: Deadline) -> Embedded:
        """As the port; a failure only where the deadline is over between two batches."""
        encoder, tokenizer = self._load()
        vectors: list[Vector] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            if deadline.remaining() <= 0:
                raise ModelFailure("timeout")
            batch = [_readable(text) for text in texts[start : start + TEXTS_AT_ONCE]]
            encoded = tokenizer.encode_batch(batch)
            vectors += encoder.vectors(
                [item.ids for item in encoded], [item.attention_mask for item in encoded]
            )
        return Embedded(tuple(vectors), VERSION)

    def _load(self) -> tuple[_Encoder, Any]:
        if self._loaded is None:
            import safetensors.numpy
            import tokenizers

            weights, tokenizer_file = self._files
            load: Any = cast("Any", safetensors.numpy).load_file
            tokenizer = cast("Any", tokenizers).Tokenizer.from_file(str(tokenizer_file))
            tokenizer.enable_truncation(LONGEST_TOKENS)
            tokenizer.enable_padding()
            self._loaded = _Encoder(load(str(weights))), tokenizer
        return self._loaded


class _Encoder:
    """The forward pass. Shapes: b texts, t tokens, 384 numbers a token, 12 heads of 32."""

    def __init__(self, weights: Mapping[str, Array]):
        import numpy

        self._numpy: Any = numpy
        self._weights = weights

    def vectors(self, ids: Sequence[Sequence[int]], mask: Sequence[Sequence[int]]) -> list[Vector]:
        """Unit vectors of padded token ids (b, t)."""
        np, w = self._numpy, self._weights
        tokens = np.asarray(ids)
        present = np.asarray(mask, dtype=np.float32)
        hidden = (
            w["embeddings.word_embeddings.weight"][tokens]
            + w["embeddings.position_embeddings.weight"][: tokens.shape[1]]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._normalised(hidden, "embeddings.LayerNorm")
        hidden_from_attention = (1 - present)[:, None, None, :] * np.float32(-1e9)
        for layer in range(_LAYERS):
            hidden = self._layer(hidden, hidden_from_attention, f"encoder.layer.{layer}.")
        mean = (hidden * present[:, :, None]).sum(axis=1) / present.sum(axis=1, keepdims=True)
        units = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return [tuple(row) for row in units.astype(float).tolist()]

    def _layer(self, hidden: Array, away: Array, name: str) -> Array:
        seen = self._attention(hidden, away, name + "attention.")
        hidden = self._normalised(hidden + seen, name + "attention.output.LayerNorm")
        wide = self._gelu(self._linear(hidden, name + "intermediate.dense"))
        narrow = self._linear(wide, name + "output.dense")
        return self._normalised(hidden + narrow, name + "output.LayerNorm")

    def _attention(self, hidden: Array, away: Array, name: str) -> Array:
        np = self._numpy
        b, t, width = hidden.shape

        def heads(part: str) -> Array:
            split = self._linear(hidden, f"{name}self.{part}").reshape(b, t, _HEADS, -1)
            return split.transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(np.float32(width / _HEADS)) + away
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = scores / scores.sum(axis=-1, keepdims=True)
        joined = (weights @ value).transpose(0, 2, 1, 3).reshape(b, t, width)
        return self._linear(joined, name + "output.dense")

    def _linear(self, values: Array, name: str) -> Array:
        return values @ self._weights[name + ".weight"].T + self._weights[name + ".bias"]

    def _normalised(self, values: Array, name: str) -> Array:
        np = self._numpy
        centred = values - values.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        return centred / spread * self._weights[name + ".weight"] + self._weights[name + ".bias"]

    def _gelu(self, values: Array) -> Array:
        """x/2 (1 + erf(x/√2)), erf to 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26)."""
        np = self._numpy
        size = np.abs(values) / np.sqrt(np.float32(2))
        t = 1 / (1 + np.float32(0.3275911) * size)
        a = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
        series = t * (a[0] + t * (a[1] + t * (a[2] + t * (a[3] + t * a[4]))))
        erf = np.sign(values) * (1 - series * np.exp(-(size**2)))
        return values * np.float32(0.5) * (1 + erf)


def _readable(text: str) -> str:
    """As much as can matter, without half surrogate pairs, which the tokenizer refuses."""
    return text[:LONGEST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
