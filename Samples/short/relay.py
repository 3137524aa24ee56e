"""A live stream to HLS, turned while it runs: each line of standard input is an event.  relay.py INPUT FOLDER/"""
import sys
import threading

import upright

with upright.LiveSession(sys.argv[1], sys.argv[2], frames="sensor", size="360p") as session:
    threading.Thread(target=lambda: [session.event(line) for line in sys.stdin], daemon=True).start()
    for update in session:
        if "format" in update:
            print(update["format"]["encodeResolution"], flush=True)
