#!/usr/bin/env bash
# Turns the sample file by its events, writes HLS and MP4, and draws a contact sheet.
set -euo pipefail
cd "$(dirname "$0")/.."

upright=${UPRIGHT:-.build/release/upright}
clip=Samples/clips/turning-sensor
rm -rf demo
mkdir -p demo

echo "demo: converting the sample: about 15 seconds"
echo "The phone is turned portrait -> landscapeLeft -> portrait while it records. The policy's decisions:"
echo
"$upright" explain --policy phone --events "$clip.jsonl"
echo
echo "demo: HLS whose format follows the app, an MP4 in one format, then HLS with animated rotations: 4 seconds each"
"$upright" transcode "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy phone \
  -o demo/follow.m3u8 --report demo/report.json 2>&1
"$upright" transcode "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy phone \
  -o demo/upright.mp4 2>&1
"$upright" transcode "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy Samples/policies/spin.json \
  -o demo/spin.m3u8 2>&1
# Frame 106 is halfway through the first rotation, at 45 degrees.
ffmpeg -nostdin -hide_banner -loglevel error -y -i demo/spin.m3u8 -vf "select='eq(n,106)'" -frames:v 1 demo/spin.png
echo "demo: the sheet: 2 seconds"
"$upright" preview "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy phone --canvas follow \
  -o demo/sheet.png
cat <<'END'

Results:
  demo/sheet.png      the camera's frames, the output's frames, and the timeline of decisions
  demo/follow.m3u8    HLS whose format follows the app: ffplay demo/follow.m3u8
  demo/upright.mp4    the same video in one format
  demo/spin.m3u8      the same video with animated rotations; halfway: demo/spin.png
  demo/report.json    each decision, each format, and the time taken
END
