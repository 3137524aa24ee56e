"""The policy alone: which way an app's interface turns while its phone is turned. No video, no FFmpeg.

    python policy.py phone events.jsonl
"""

import sys

import upright_policy


def main(name: str, events: str) -> None:
    with upright_policy.Policy(name) as policy, open(events) as lines:
        for line in lines:
            try:
                policy.event(line)
            except upright_policy.UprightError as error:
                # A server goes on after an event that the policy refuses.
                print(error, file=sys.stderr)
        policy.finish()
        for decision in policy.take()["events"]:
            print(decision["at"], decision["decision"], decision["to"])


if __name__ == "__main__":
    main(*sys.argv[1:])
