"""Sessions between machines, with git's own push and fetch.

The rules, which every module here keeps:

- A remote's sessions are known under `refs/remotes/<remote>/<branch>` and nowhere else. What was known of one moves
  forward alone: a remote whose history no longer holds what it held is refused.
- The store's own branches move by compare-and-swap alone, from a state to one that continues it, delta by delta.
- Nothing is pushed by force. A session that went on here and there stays as it is, on both sides.
- Git does the transport, as the user has set it up. It is run without a shell; names and URLs stand after `--`.
"""
