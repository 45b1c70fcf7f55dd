"""`judgment memory`: a memory root brought into the memory, and the memory taken along as one.

Both go through the API, as the owner. A folder is read and written without following a link; what
cannot come along is said before anything is sent. What a server sends is checked like a stranger's.
"""
