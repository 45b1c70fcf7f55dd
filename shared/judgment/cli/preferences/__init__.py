"""`judgment prefs`, and the short form `prefs`: every command on preferences.

One table declares the commands; a store chosen by setting (local files, the hosted API, Fulcra)
does the work. `inject` and `get` read local files and import the standard library, the kit and the
pure modules of preferences only.
"""
