#!/usr/bin/env bash
# Creates the sample files, or the upright frames that turning-sensor.mp4 was made from (the ground truth).
#
#   make-samples.sh [DIR]          writes the sample files to DIR (default: clips/ beside this script)
#   make-samples.sh --truth DIR    writes the ground truth of turning-sensor.mp4 to DIR, lossless
#   make-samples.sh --truth DIR --y4m     the same as y4m (large: 138 MB per file)
#   make-samples.sh --turns DIR    writes turns.mp4 to DIR, of 33 s with sound and twelve turns, and its turns.jsonl
#
# Needs ffmpeg with libx264 and libfreetype, and the fonts of fonts-dejavu-core.
# The same ffmpeg gives the same bytes: one thread, no dates, no version strings.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$here/clips
truth=
truth_format=ffv1
turns=
while (($#)); do
  case $1 in
    --truth) truth=${2:?--truth needs a directory} && shift 2 ;;
    --turns) turns=${2:?--turns needs a directory} && shift 2 ;;
    --y4m) truth_format=y4m && shift ;;
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 0 ;;
    -*) echo "make-samples: unknown option $1 (see --help)" >&2 && exit 64 ;;
    *) out=$1 && shift ;;
  esac
done

for tool in ffmpeg ffprobe; do
  command -v "$tool" >/dev/null || { echo "make-samples: $tool is missing (apt-get install ffmpeg)" >&2; exit 69; }
done
font() {
  local found
  found=$(find /usr/share/fonts /usr/local/share/fonts "${XDG_DATA_HOME:-$HOME/.local/share}/fonts" -name "$1" -print -quit 2>/dev/null || true)
  [[ -n $found ]] || { echo "make-samples: the font $1 is missing (apt-get install fonts-dejavu-core)" >&2; return 69; }
  printf '%s' "$found"
}
sans_font=$(font DejaVuSans-Bold.ttf)
mono_font=$(font DejaVuSansMono-Bold.ttf)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fps=30
ff() { ffmpeg -nostdin -hide_banner -loglevel error -y -threads 1 -filter_threads 1 -filter_complex_threads 1 "$@"; }
exact=(-map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact)
colour=(-color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range tv -chroma_sample_location left)
# x264's SEI contains its version and options. It is removed, so that other builds give the same bytes.
h264=(-c:v libx264 -preset slow -threads 1 -pix_fmt yuv420p "${colour[@]}" -bsf:v filter_units=remove_types=6)
mp4=(-video_track_timescale 30000 -movflags +faststart "${exact[@]}")

# scene W H FIRST [EXTRA]: prints the filter graph of the upright scene, W x H, with frame numbers from FIRST,
# with the output pad [scene]. EXTRA is a further filter that is applied last. All lengths are in units of the
# short side / 720 (u), so that the marks can be found at any scale:
#   corners   squares of 110 u: red top left, green top right, blue bottom left, yellow bottom right
#   counter   two rows of ten squares of 48 u, pitch 56 u, in the centre of the frame: bit i (0 = leftmost =
#             512) is 1 if the upper square is white and the lower black, and 0 if it is the other way round.
#             Another pair on the left is always white over black; its counterpart on the right is empty grey.
scene() {
  local w=$1 h=$2 first=$3 extra=${4:-null}
  local short=$((w < h ? w : h))
  local n="(n+$first)" sans="fontfile='$sans_font'" mono="fontfile='$mono_font'"
  u() { echo $(($1 * short / 720)); }
  local cx=$((w / 2)) cy=$((h / 2)) corner side pitch
  corner=$(u 110) side=$(u 48) pitch=$(u 56)

  # The clock: beside the counter in a wide frame, below it in a tall one.
  local radius clock_x clock_y
  if ((w > h)); then
    radius=$(u 120) clock_x=$(u 150) clock_y=$cy
  else
    radius=$(u 170) clock_x=$cx clock_y=$((cy + $(u 330)))
  fi

  # The static parts are drawn once and looped: sky over ground, the disc and ring of the clock.
  local horizon=$((h * 72 / 100))
  local disc="hypot(X-$clock_x\\,Y-$clock_y)"
  local ring="between($disc\\,$radius-$(u 10)\\,$radius)"
  local on="lte($disc\\,$radius)"
  paint() { echo "if($ring\\,20\\,if($on\\,250\\,if(lt(Y\\,$horizon)\\,$1\\,$2)))"; }
  local still="color=black:s=${w}x${h}:r=$fps:d=1,format=gbrp,trim=end_frame=1"
  still+=",geq=r='$(paint "60+130*Y/$horizon" "96-40*(Y-$horizon)/($h-$horizon)")'"
  still+=":g='$(paint "120+100*Y/$horizon" "110-30*(Y-$horizon)/($h-$horizon)")'"
  still+=":b='$(paint "200+40*Y/$horizon" "60-30*(Y-$horizon)/($h-$horizon)")'"
  local right=$((w - corner)) bottom=$((h - corner)) box="w=$corner:h=$corner:t=fill"
  still+=",drawbox=x=0:y=0:c=0xE02020:$box,drawbox=x=$right:y=0:c=0x20B040:$box"
  still+=",drawbox=x=0:y=$bottom:c=0x2040E0:$box,drawbox=x=$right:y=$bottom:c=0xF0D020:$box"
  still+=",drawtext=$sans:text='↑ UP ↑':fontsize=$(u 120):fontcolor=white:borderw=$(u 6):bordercolor=black:x=(w-tw)/2:y=$(u 20)"
  local mark digit="fontsize=$(u 40):fontcolor=0x202020" reach=$((radius - $(u 38)))
  for mark in "12:$clock_x:$((clock_y - reach))" "3:$((clock_x + reach)):$clock_y" \
    "6:$clock_x:$((clock_y + reach))" "9:$((clock_x - reach)):$clock_y"; do
    IFS=: read -r label x y <<<"$mark"
    still+=",drawtext=$sans:text=$label:$digit:x=$x-tw/2:y=$y-th/2"
  done
  # The counter's panel, and the pair of squares that shows its orientation.
  local panel=$((11 * pitch + $(u 72))) left=$((cx - 5 * pitch + (pitch - side) / 2)) upper=$((cy - pitch + (pitch - side) / 2)) lower
  lower=$((cy + (pitch - side) / 2))
  local square="w=$side:h=$side:t=fill"
  still+=",drawbox=x=$cx-$panel/2:y=$cy-$(u 66):w=$panel:h=$(u 132):c=0x808080:t=fill"
  still+=",drawbox=x=$((left - pitch)):y=$upper:c=white:$square,drawbox=x=$((left - pitch)):y=$lower:c=black:$square"
  local i
  for ((i = 0; i < 10; i++)); do
    still+=",drawbox=x=$((left + i * pitch)):y=$upper:c=black:$square,drawbox=x=$((left + i * pitch)):y=$lower:c=white:$square"
  done
  still+=",loop=loop=-1:size=1,setpts=N/$fps/TB"

  # The moving parts: the hand (one turn in four seconds), the number, the time, the bits that are 1.
  local hand="color=black@0:s=$((2 * radius))x$((2 * radius)):r=$fps:d=1,format=rgba,trim=end_frame=1"
  hand+=",geq=r=208:g=16:b=16:a='255*lte(abs(X-$radius)\\,$(u 6))*between(Y\\,$(u 60)\\,$radius)',loop=loop=-1:size=1,setpts=N/$fps/TB"
  hand+=",rotate=a='2*PI*$n/120':c=none:bilinear=1"
  local live="overlay=x=$clock_x-$radius:y=$clock_y-$radius:format=gbrp:shortest=0"
  live+=",drawtext=$mono:text='%{eif\\:$n\\:d\\:4}':fontsize=$(u 140):fontcolor=white:borderw=$(u 5):bordercolor=black:x=(w-tw)/2:y=$cy-$(u 190)"
  local clock="%{eif\\:$n/1800\\:d\\:2}\\:%{eif\\:mod($n/$fps\\,60)\\:d\\:2}.%{eif\\:mod($n*1000/$fps\\,1000)\\:d\\:3}"
  live+=",drawtext=$mono:text='$clock':fontsize=$(u 72):fontcolor=white:borderw=$(u 4):bordercolor=black:x=(w-tw)/2:y=$cy+$(u 90)"
  for ((i = 0; i < 10; i++)); do
    local one="enable='mod(floor($n/$((512 >> i)))\\,2)'"
    live+=",drawbox=x=$((left + i * pitch)):y=$upper:c=white:$square:$one,drawbox=x=$((left + i * pitch)):y=$lower:c=black:$square:$one"
  done
  echo "$still[still];$hand[hand];[still][hand]$live,$extra[scene]"
}

# filmed FILE W H FIRST COUNT TURN [EXTRA]: writes the sensor's frames of the scene (TURN: a filter that turns the upright
# frame into the stored one), lossless, BT.709 limited range, 4:2:0 with left chroma location.
filmed() {
  local file=$1 w=$2 h=$3 first=$4 count=$5 turn=$6 extra=${7:-null}
  ff -filter_complex "$(scene "$w" "$h" "$first" "$extra");[scene]$turn,scale=out_color_matrix=bt709:out_range=tv:out_h_chr_pos=0:out_v_chr_pos=128:flags=bicubic+accurate_rnd+full_chroma_int,format=yuv420p" \
    -frames:v "$count" -c:v ffv1 -level 3 -g 1 "${colour[@]}" "${exact[@]}" "$file"
}

# The phone of turning-sensor: upright, turned to landscapeLeft, upright again. Its back camera's sensor is mounted so
# that an upright frame is stored turned 90 degrees counter-clockwise, and a landscapeLeft one unturned.
turning() {
  filmed "$work/1.nut" 720 1280 0 100 transpose=cclock
  filmed "$work/2.nut" 1280 720 100 100 null
  filmed "$work/3.nut" 720 1280 200 100 transpose=cclock
}

if [[ -n $truth ]]; then
  mkdir -p "$truth"
  turning
  # Turned back without resampling: exactly the pixels before H.264.
  write_truth() {
    local codec=(-c:v ffv1 -level 3 -g 1) file=$truth/$2.nut
    [[ $truth_format == y4m ]] && codec=(-c:v wrapped_avframe) file=$truth/$2.y4m
    ff -i "$work/$1.nut" -vf "$3" "${codec[@]}" "${colour[@]}" -chroma_sample_location "$4" "${exact[@]}" "$file"
  }
  write_truth 1 turning-truth-000-099-portrait transpose=clock top
  write_truth 2 turning-truth-100-199-landscape null left
  write_truth 3 turning-truth-200-299-portrait transpose=clock top
  exit 0
fi

# For players: the phone is turned at frame 330 and each 55 frames after that, up to frame 935 of 1000.
if [[ -n $turns ]]; then
  mkdir -p "$turns"
  echo '{"at": 0, "device": "portrait"}' >"$turns/turns.jsonl"
  first=0 pieces=()
  for ((i = 0; i <= 12; i++)); do
    last=$((i < 12 ? 330 + 55 * i : 1000))
    if ((i % 2 == 0)); then
      filmed "$work/$i.nut" 360 640 $first $((last - first)) transpose=cclock
    else
      filmed "$work/$i.nut" 640 360 $first $((last - first)) null
    fi
    pieces+=(-i "$work/$i.nut")
    device=$( ((i % 2)) && echo portrait || echo landscapeLeft)
    ((i == 12)) || echo "{\"at\": $((last / 30)).$(printf %06d $((last % 30 * 1000000 / 30))), \"device\": \"$device\"}" >>"$turns/turns.jsonl"
    first=$last
  done
  ff "${pieces[@]}" -f lavfi -i sine=f=440:r=48000:d=33.333333 -filter_complex 'concat=n=13[v]' -map '[v]' -map 13:a "${h264[@]}" -crf 20 -bf 0 -g 30 \
    -keyint_min 30 -sc_threshold 0 -c:a aac -b:a 96k "${mp4[@]}" "$turns/turns.mp4"
  exit 0
fi

mkdir -p "$out"

# One GOP per second, so that both rotations are inside a GOP. No B-frames, as phones record.
turning
ff -i "$work/1.nut" -i "$work/2.nut" -i "$work/3.nut" -filter_complex concat=n=3 \
  "${h264[@]}" -crf 28 -bf 0 -g 30 -keyint_min 30 -sc_threshold 0 "${mp4[@]}" "$out/turning-sensor.mp4"
cat >"$out/turning-sensor.jsonl" <<'JSONL'
{"at": 0, "device": "portrait"}
{"at": 3.333333, "device": "landscapeLeft"}
{"at": 6.666667, "device": "portrait"}
JSONL

# turned IN DEGREES OUT: copies IN to OUT with a display matrix of DEGREES clockwise. FFmpeg 5.1 writes one only when
# copying, and "rotate" is counter-clockwise. Later versions dropped that option, so the result is checked.
turned() {
  ff -i "$1" -map 0 -c copy "${mp4[@]}" -metadata:s:v:0 rotate="$((360 - $2))" "$3"
  local angle
  angle=$(ffprobe -v error -select_streams v:0 -show_entries stream_side_data=rotation -of default=nw=1:nk=1 "$3")
  [[ $angle == "-$2" ]] || { echo "make-samples: ${3##*/} has the rotation '$angle', not -$2 (needs FFmpeg 5.1)" >&2; exit 1; }
}

filmed "$work/matrix.nut" 360 640 0 60 transpose=cclock
ff -i "$work/matrix.nut" "${h264[@]}" -crf 20 -bf 0 -g 30 "${mp4[@]}" "$work/matrix.mp4"
turned "$work/matrix.mp4" 90 "$out/display-matrix.mp4"

# A flash of three frames and a beep of 100 ms start together at 0.5, 1.5, 2.5, 3.5 and 4.5 s.
filmed "$work/sound.nut" 640 360 0 150 hflip,vflip \
  "drawbox=x=500:y=115:w=130:h=130:c=black:t=fill,drawbox=x=500:y=115:w=130:h=130:c=white:t=fill:enable='between(mod(n\\,30)\\,15\\,17)'"
ff -i "$work/sound.nut" \
  -f lavfi -i "aevalsrc=exprs='0.5*sin(2*PI*1000*t)*between(mod(t\\,1)\\,0.5\\,0.5999999)|0.25*sin(2*PI*1000*t)*between(mod(t\\,1)\\,0.5\\,0.5999999)':s=48000:d=5" \
  "${h264[@]}" -crf 20 -bf 3 -b_strategy 0 -g 30 -c:a aac -b:a 96k "${mp4[@]}" "$work/sound.mp4"
turned "$work/sound.mp4" 180 "$out/with-sound.mp4"

for clip in "$out"/*.mp4; do
  size=$(stat -c %s "$clip")
  printf '%8d  %s\n' "$size" "${clip##*/}"
  ((size < 500000)) || { echo "make-samples: ${clip##*/} is $size bytes, more than 500 KB" >&2; exit 1; }
done
