"""An owner's memory: plain files they can read and edit, with every version kept.

A model reaches it through tools, the owner through their own edits, which always win. Nothing
leaves the root, nothing is overwritten unseen, nothing is forgotten. It knows no conversation, and
reads neither the judgment profile nor the preferences.
"""
