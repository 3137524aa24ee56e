#!/usr/bin/env bash
# One picture of what went in above what came out.
#
#   contact-sheet.sh IN OUT SHEET.png [-n TILES] [-c CELL] [-t T1,T2,...]
#
# The upper row shows IN's frames as they are stored, the lower row OUT's as a player shows them, at the same times: TILES
# (6) of them spread evenly, or those of -t. Each frame is fitted into a square of CELL (240) pixels and never
# stretched, also where OUT changes its size on the way; below it stand its time and size.
set -euo pipefail

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }
tiles=6 cell=240 times=() files=()
while (($#)); do
  case $1 in
    -n) tiles=${2:?} && shift 2 ;;
    -c) cell=${2:?} && shift 2 ;;
    -t) IFS=, read -ra times <<<"${2:?}" && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    -*) echo "contact-sheet: unknown option $1 (see --help)" >&2 && exit 64 ;;
    *) files+=("$1") && shift ;;
  esac
done
((${#files[@]} == 3)) || { usage >&2; exit 64; }
input=${files[0]} output=${files[1]} sheet=${files[2]}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ff() { ffmpeg -nostdin -hide_banner -loglevel error -y "$@"; }

font=$(find /usr/share/fonts /usr/local/share/fonts -name DejaVuSans.ttf -print -quit 2>/dev/null || true)
[[ -n $font ]] || { echo "contact-sheet: DejaVuSans.ttf is missing (apt-get install fonts-dejavu-core)" >&2; exit 69; }
text="drawtext=fontfile='$font':fontcolor=0x202020"

seconds() {
  local length
  length=$(ffprobe -v error -show_entries format=duration -of default=nw=1:nk=1 "$1")
  [[ $length =~ ^[0-9.]+$ ]] || { echo "contact-sheet: $1 does not say how long it is; name times with -t" >&2; exit 65; }
  echo "$length"
}
if ((${#times[@]} == 0)); then
  length=$(seconds "$input")
  for ((i = 0; i < tiles; i++)); do
    times+=("$(awk -v l="$length" -v i="$i" -v n="$tiles" 'BEGIN { printf "%.3f", l * (i + 0.5) / n }')")
  done
fi

# row NAME TITLE FILE [OPTIONS OF THE INPUT]
row() {
  local name=$1 title=$2 file=$3 i frame size seek
  shift 3
  for i in "${!times[@]}"; do
    frame=$work/frame.png
    rm -f "$frame"
    # One run for each time, and -autoscale 0: ffmpeg would scale every frame to the first one's size.
    # Seeking is exact only where there is an index; elsewhere decode up to the time.
    case $file in
      *.mp4 | *.mov | *.m4v | *.mkv | *.webm) seek=("$@" -ss "${times[i]}" -i "$file") ;;
      *) seek=("$@" -i "$file" -ss "${times[i]}") ;;
    esac
    ff "${seek[@]}" -map v:0 -frames:v 1 -autoscale 0 "$frame" || true
    if [[ -s $frame ]]; then
      size=$(ffprobe -v error -show_entries stream=width,height -of csv=p=0:s=x "$frame")
    else
      ff -f lavfi -i color=0xE4E4E4:s=16x16 -frames:v 1 "$frame"
      size="no frame"
    fi
    ff -i "$frame" -vf "scale=$cell:$cell:force_original_aspect_ratio=decrease:flags=area,setsar=1,pad=$cell:$cell:-1:-1:0xE4E4E4,pad=iw+16:ih+40:8:4:white,$text:fontsize=16:text='${times[i]} s   $size':x=(w-tw)/2:y=h-26" \
      "$(printf '%s/%s-%03d.png' "$work" "$name" "$i")"
  done
  ff -i "$work/$name-%03d.png" -vf "tile=${#times[@]}x1,pad=iw:ih+34:0:34:white,$text:fontsize=20:text='$title':x=8:y=10" \
    -frames:v 1 "$work/$name.png"
}
row input 'input, as it is stored' "$input" -noautorotate
row output 'output, as it is shown' "$output"
ff -i "$work/input.png" -i "$work/output.png" -filter_complex vstack -frames:v 1 "$sheet"
