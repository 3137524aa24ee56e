#!/usr/bin/env bash
# Builds the FFmpeg of the tarball and what it needs as static libraries, in .build/static/KIND: the newest FFmpeg in
# Debian, from its source package, with the parts that Upright uses. KIND is `gpl` (the default), which has x264 and
# x265 and is under the GPL 3, or `lgpl`, which can't encode H.264 and HEVC and is under the LGPL 3.
#
# OpenSSL, SRT, Opus, VPX, AOM, zimg, zlib, x264 and x265 are this Debian's static libraries; qrencode, of which Debian has
# none, is built from source. Nothing needs root. .build/static/glibc is the C library of Debian 11, which the
# programs are linked with, so that they run with glibc 2.31 or later.
#
# A second run does nothing. `sources.tsv` lists name, version, licence and address of each part.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-gpl}
[[ $kind = gpl || $kind = lgpl ]] || { echo "usage: static-ffmpeg.sh [gpl|lgpl]" >&2; exit 64; }
static=$PWD/.build/static
source Scripts/apt.sh
mkdir -p "$static/$kind"
# Both kinds have this name while they are built and linked, so that the same modules of Upright are linked with either.
ln -sfn "$kind" "$static/linked"
prefix=$static/linked
[ ! -e "$prefix/sources.tsv" ] || exit 0
# Absolute names of source files would make the libraries differ by folder.
flags="-O2 -fPIC -ffile-prefix-map=$static=."
rm -rf "$prefix"/{lib,include,share,licences,parts}
mkdir -p "$prefix"/{lib/pkgconfig,include,licences} "$static/sources"
jobs=${JOBS:-$(nproc)}

say() { echo "static-ffmpeg: $1"; }
# Runs a command whose output is only printed if it fails.
quiet() { "$@" >"$static/log" 2>&1 || { tail -n 40 "$static/log" >&2; exit 70; }; }

# part NAME VERSION LICENCE ADDRESS TEXT: one line of sources.tsv, and the licence's text.
part() {
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>"$prefix/parts"
  gzip -cdf "$5" >"$prefix/licences/$1"
}

# unpack NAME: unpacks the original source of Debian's newest package of this name. Sets `address`, `version`, `folder`.
unpack() {
  local file sum
  read -r address file sum < <(apt_of sid source --print-uris --only-source "$1" 2>/dev/null |
    sed -n "s/^'\([^']*\)' \([^ ]*\.orig\.tar\.[a-z0-9]*\) [0-9]* SHA256:/\1 \2 /p")
  [ -e "$static/sources/$file" ] || quiet curl -fsS -o "$static/sources/$file" "$address"
  sha256sum --quiet -c <<<"$sum  $static/sources/$file"
  version=${file#*_} version=${version%.orig.*} folder=$static/sources/$1
  rm -rf "$folder"
  mkdir "$folder"
  tar -xf "$static/sources/$file" -C "$folder" --strip-components=1
}

# debian_library PACKAGE LICENCE: takes the static libraries and headers out of a package of this Debian,
# which needn't be installed: SRT's conflicts with the one that Debian's FFmpeg uses.
debian_library() {
  local package=$1 licence=$2 unpacked=$static/packages/$1
  if [ ! -d "$unpacked" ]; then
    mkdir -p "$static/packages"
    (cd "$static/packages" && quiet apt-get -q -o APT::Sandbox::User=root download "$package")
    dpkg -x "$static/packages/$package"_*.deb "$unpacked"
  fi
  cp -r "$unpacked"/usr/include/. "$prefix/include/"
  find "$unpacked/usr/lib" -name '*.a' -exec cp {} "$prefix/lib/" \;
  [ ! -d "$prefix/include/x86_64-linux-gnu" ] || cp -r "$prefix"/include/x86_64-linux-gnu/. "$prefix/include/"
  for file in "$unpacked"/usr/lib/*/pkgconfig/*.pc; do
    sed -e "s|^prefix=.*|prefix=$prefix|" -e "s|^libdir=.*|libdir=$prefix/lib|" \
      -e "s|^includedir=.*|includedir=$prefix/include|" "$file" >"$prefix/lib/pkgconfig/${file##*/}"
  done
  version=$(dpkg-deb -f "$static/packages/$package"_*.deb Version)
  part "$package" "$version" "$licence" "https://packages.debian.org/bookworm/$package" \
    "$(find "$unpacked/usr/share/doc" /usr/share/doc/"${package%-dev}"* -name 'copyright*' 2>/dev/null | head -n 1)"
}

say "the libraries of this Debian"
debian_library libssl-dev Apache-2.0
debian_library libsrt-openssl-dev MPL-2.0
debian_library libopus-dev BSD-3-Clause
debian_library libvpx-dev BSD-3-Clause
debian_library libaom-dev BSD-2-Clause
debian_library libzimg-dev WTFPL
debian_library zlib1g-dev Zlib
if [ "$kind" = gpl ]; then
  debian_library libx264-dev GPL-2.0-or-later
  debian_library libx265-dev GPL-2.0-or-later
  cc -O2 -fPIC -c Packaging/no_numa.c -o "$prefix/lib/no_numa.o"
  ar rcsD "$prefix/lib/libnuma.a" "$prefix/lib/no_numa.o"
fi
# The service's name for it: see Service/Sources/CUprightSRT.
ln -s libsrt.a "$prefix/lib/libsrt-gnutls.a"

say "qrencode"
unpack qrencode
part qrencode "$version" LGPL-2.1-or-later "$address" "$folder/COPYING"
# shellcheck disable=SC2086
(cd "$folder" && quiet env CFLAGS="$flags" ./configure --prefix="$prefix" --disable-shared --without-tools &&
  quiet make -j"$jobs" install)

unpack ffmpeg
say "FFmpeg $version ($kind)"
configure=(--prefix="$prefix" --disable-autodetect --disable-programs --disable-doc --disable-avdevice
  --disable-debug --enable-pic --enable-version3 --enable-openssl --enable-libsrt --enable-libopus --enable-libvpx
  --enable-libaom --enable-libzimg --enable-zlib)
# only KIND NAME...: leaves out all others of a kind. Game formats and the like are a third of FFmpeg.
only() {
  local kind=$1
  shift
  configure+=("--disable-${kind}s" "--enable-$kind=$(IFS=,; echo "$*")")
}
only decoder h264 hevc vvc mpeg1video mpeg2video mpeg4 h261 h263 h263i h263p flv vp3 vp6 vp6a vp6f vp7 vp8 vp9 theora \
  libaom_av1 libvpx_vp9 msmpeg4v1 msmpeg4v2 msmpeg4v3 wmv1 wmv2 wmv3 vc1 mjpeg mjpegb ljpeg prores prores_raw dnxhd cfhd \
  ffv1 huffyuv ffvhuff utvideo dvvideo svq1 svq3 rv30 rv40 cinepak indeo3 rawvideo v210 v210x v308 v408 v410 r210 \
  wrapped_avframe png apng gif bmp webp tiff jpeg2000 jpegls qtrle \
  aac aac_latm mp1 mp1float mp2 mp2float mp3 mp3float ac3 eac3 dca mlp truehd opus libopus vorbis flac alac speex \
  nellymoser wmav1 wmav2 wmapro amrnb amrwb ape tta wavpack cook adpcm_ima_qt adpcm_ima_wav adpcm_ms adpcm_g722 \
  adpcm_g726 adpcm_swf gsm gsm_ms qdm2 qdmc 'pcm_*' mov_text subrip srt ass ssa webvtt dvbsub dvdsub pgssub ccaption text
only encoder aac ac3 alac flac libopus libvpx_vp9 libaom_av1 mp2 'pcm_s*' png mjpeg bmp mov_text srt subrip webvtt ass ssa \
  rawvideo wrapped_avframe
only demuxer mov matroska mpegts mpegtsraw mpegps flv live_flv avi asf asf_o ogg mxf gif apng yuv4mpegpipe ivf h264 hevc \
  vvc av1 obu mpegvideo m4v mjpeg mjpeg_2000 h261 h263 vc1 vc1t dv rm swf nut image2 image2pipe 'image_*' hls rtsp sdp rtp sap \
  wav w64 aiff au caf mp3 aac ac3 eac3 dts mlp truehd flac amr ape tta wv 'pcm_*' rawvideo concat ffmetadata webvtt srt ass
only muxer mp4 mov tgp tg2 ipod ismv matroska webm mpegts flv hls dash segment rtp rtsp yuv4mpegpipe image2 image2pipe gif apng \
  avi ogg wav adts mp3 flac h264 hevc obu ivf m4v mjpeg null nut rawvideo webvtt srt ass framecrc ffmetadata tee
only filter bwdif format zscale tonemap null aformat aresample scale
[ "$kind" = lgpl ] || configure+=(--enable-gpl --enable-libx264 --enable-libx265 --enable-encoder=libx264,libx265)
# shellcheck disable=SC2086
(cd "$folder" && PKG_CONFIG_PATH=$prefix/lib/pkgconfig quiet ./configure "${configure[@]}" --pkg-config-flags=--static \
  --extra-cflags="-ffile-prefix-map=$static=. -I$prefix/include" --extra-ldflags="-L$prefix/lib" --extra-libs="-lstdc++ -lm" &&
  quiet make -j"$jobs" install)
part ffmpeg "$version" "$([ "$kind" = gpl ] && echo GPL-3.0-or-later || echo LGPL-3.0-or-later)" "$address" \
  "$folder/COPYING.$([ "$kind" = gpl ] && echo GPLv3 || echo LGPLv3)"
printf '%s\n' "${configure[@]#--prefix=*}" | grep . >"$prefix/ffmpeg-configuration"

if [ ! -d "$static/glibc" ]; then
  say "the C library of Debian 11"
  mkdir -p "$static/glibc.new"
  (cd "$static/packages" && quiet apt_of bullseye download libc6 libc6-dev libgcc-10-dev libgcc-s1)
  for package in libc6 libc6-dev libgcc-10-dev libgcc-s1; do
    dpkg -x "$(find "$static/packages" -name "${package}_*.deb" -print -quit)" "$static/glibc.new"
  done
  # Absolute links would lead to this machine's libraries. GCC's are linked statically, and libstdc++ is that of the compiler
  # of zimg and SRT: Packaging/older_glibc.c has what it takes from a newer C library.
  find "$static/glibc.new" -type l -lname '/*' | while IFS= read -r link; do
    ln -sfr "$static/glibc.new$(readlink "$link")" "$link"
  done
  rm "$static"/glibc.new/usr/lib/gcc/x86_64-linux-gnu/10/lib*.so
  cp "$(g++ -print-file-name=libstdc++.a)" "$static/glibc.new/usr/lib/gcc/x86_64-linux-gnu/10/"
  mv "$static/glibc.new" "$static/glibc"
fi
mv "$prefix/parts" "$prefix/sources.tsv"
# GCC's library is linked statically too, and Swift's package manager doesn't know -pthread.
sed -i 's/ -lgcc_s\b//g; s/ -pthread\b//g' "$prefix"/lib/pkgconfig/*.pc
du -sh "$prefix/lib"
