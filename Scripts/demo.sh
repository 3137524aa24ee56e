#!/usr/bin/env bash
# Turns the sample clip by its events into HLS and MP4, and makes a contact sheet of both.
set -euo pipefail
cd "$(dirname "$0")/.."

upright=.build/release/upright
clip=Samples/clips/turning-sensor
rm -rf demo
mkdir -p demo

echo "The phone turns portrait -> landscapeLeft -> portrait while it films; its policy decides:"
echo
"$upright" explain --policy phone --events "$clip.jsonl"
echo
"$upright" transcode "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy phone \
  -o demo/follow.m3u8 --report demo/report.json 2>&1
"$upright" transcode "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy phone \
  -o demo/upright.mp4 2>&1
"$upright" transcode "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy Samples/policies/spin.json \
  -o demo/spin.m3u8 2>&1
# Frame 106 lies halfway through the first turn: 45 degrees.
ffmpeg -nostdin -hide_banner -loglevel error -y -i demo/spin.m3u8 -vf "select='eq(n,106)'" -frames:v 1 demo/spin.png
"$upright" preview "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy phone --canvas follow \
  -o demo/sheet.png
cat <<'END'

Look at:
  demo/sheet.png      what the camera stored, what a viewer gets, and when what was decided
  demo/follow.m3u8    HLS whose format follows the app: ffplay demo/follow.m3u8
  demo/upright.mp4    the same in one format that never changes
  demo/spin.m3u8      the same with turns that are seen to turn; halfway: demo/spin.png
  demo/report.json    each decision, each format, and what it took
END
