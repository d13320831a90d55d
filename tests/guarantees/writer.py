"""A process that commits to one session and says what was acknowledged; it is there to be killed, starved and cut off.

    python -m tests.guarantees.writer PATH SESSION COUNT [unsafe]

It prints `ready`, then waits for a line on stdin; then, for each commit, its id when it was acknowledged. An error of
ours is printed as `error <class>: <text>` and ends it with exit code 3. After the last commit it prints `done`.
"""

import sys

from gitsession import SessionError, Store, new_commit


def main(path: str, session_id: str, count: int, *, durable: bool) -> int:
    store = Store.open(path, durable=durable, wait=5)
    session = store.bind(session_id)
    head = session.load().head
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        for number in range(count):
            commit = new_commit(head, [{"role": "user", "content": f"message {number} " + "x" * 400}])
            head = session.commit(commit).head
            print(head, flush=True)
    except SessionError as error:
        print(f"error {type(error).__name__}: {error}", flush=True)
        return 3
    print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), durable=sys.argv[4:] != ["unsafe"]))
