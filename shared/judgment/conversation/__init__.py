"""An ordinary turn: an owner's message, a model, its tools over the owner's memory, a stream.

It promises the message route of BrainDrive's gateway over Postgres and many processes: what the
owner said is stored before a model is asked, what happened is stored before it is told, and an
approval outlives the stream that asked for it. It starts no process and judges nothing.
"""
