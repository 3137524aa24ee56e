// Reads an HLS playlist (RFC 8216bis): its variants, or its units: parts, and segments without parts.
export function parse(text) {
  const list = { variants: [], units: [], target: 2, blocks: false, isEnded: false, next: null };
  let sequence = 0, part = 0, map = null, isVariant = false, start = 0, duration = 0;
  for (const line of text.split("\n")) {
    const [tag, ...rest] = line.split(":");
    const value = rest.join(":");
    if (tag === "#EXT-X-STREAM-INF") isVariant = true;
    else if (tag === "#EXT-X-TARGETDURATION") list.target = Number(value);
    else if (tag === "#EXT-X-MEDIA-SEQUENCE") sequence = Number(value);
    else if (tag === "#EXT-X-SERVER-CONTROL") list.blocks = value.includes("CAN-BLOCK-RELOAD=YES");
    else if (tag === "#EXTINF") duration = parseFloat(value);
    else if (tag === "#EXT-X-MAP") map = attribute(value, "URI");
    else if (tag === "#EXT-X-ENDLIST") list.isEnded = true;
    else if (tag === "#EXT-X-PART") {
      list.units.push({
        sequence, part: part++, map, file: attribute(value, "URI"), isIndependent: value.includes("INDEPENDENT=YES")
      });
    } else if (line && !line.startsWith("#")) {
      if (isVariant) list.variants.push(line);
      else {
        if (part === 0) list.units.push({ sequence, part: 0, map, file: line, isIndependent: true, start, end: start + duration });
        start += duration;
        sequence++;
        part = 0;
      }
      isVariant = false;
    }
  }
  list.next = { sequence, part };
  return list;
}

function attribute(value, name) {
  return value.match(new RegExp("(?:^|,)" + name + '="([^"]*)"'))?.[1] ?? null;
}

// Whether a unit comes after another one.
export const isAfter = (a, b) => a.sequence > b.sequence || a.sequence === b.sequence && a.part > b.part;

// The codecs of an MP4 initialization segment, or null if they aren't H.264 with AAC or without audio.
export function typeOf(bytes) {
  const text = new TextDecoder("latin1").decode(bytes);
  const avc = text.indexOf("avcC");
  if (avc < 0) return null;
  const profile = [5, 6, 7].map(index => bytes[avc + index].toString(16).padStart(2, "0")).join("");
  return 'video/mp4; codecs="avc1.' + profile + (text.includes("mp4a") ? ",mp4a.40.2" : "") + '"';
}
