"""A memory that leaves and arrives whole: pages of lines out, parts of lines in.

Both directions carry the same lines, so that what one deployment exports another takes. An export
shows one revision however long it takes; an import is carried out whole or not at all, and is
harmless when it is repeated. It writes nothing that a path could lead out of the memory.
"""
