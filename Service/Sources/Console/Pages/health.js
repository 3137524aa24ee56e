// How well a session's stream arrives and leaves: charts of the last minute, and counts.
import { makeChart } from "./charts.js";
import { make, write } from "./dom.js";
import { shapeOf } from "./words.js";

export function makeHealth() {
  const charts = {
    bitsIn: makeChart("Stream in", "kbit/s", 100), framesIn: makeChart("Frames in", "per second", 30), keyframes: makeChart("Keyframes, one each", "s", 2),
    packets: makeChart("Packets lost", "per second", 1), lost: makeChart("Frames dropped", "per second", 1),
    bitsOut: makeChart("Picture out", "kbit/s", 100), framesOut: makeChart("Frames out", "per second", 30), turn: makeChart("From a turn to its frame", "ms", 100)
  };
  const numbers = make("dl", { class: "numbers" });
  let before = null;

  const dropped = counters => Object.values(counters.dropped).reduce((sum, count) => sum + count, 0);

  function show(one) {
    const { counters } = one;
    const now = performance.now();
    const rate = value => Math.max(0, value(counters) - value(before.counters)) / Math.max((now - before.now) / 1000, 0.001);
    if (before && one.state !== "waiting") {
      charts.bitsIn.add(rate(of => of.bytesIn) * 8 / 1000);
      charts.framesIn.add(rate(of => of.framesIn));
      charts.keyframes.add(counters.keyframeInterval);
      charts.packets.add(rate(of => of.packetsLost));
      charts.lost.add(rate(dropped));
      charts.bitsOut.add(rate(of => of.bytesOut) * 8 / 1000);
      charts.framesOut.add(rate(of => of.framesOut));
      charts.turn.add(counters.eventToFrame == null ? null : counters.eventToFrame * 1000);
    }
    before = { now, counters };
    const rows = {
      "Picture": one.encodeResolution ? one.encodeResolution + ", " + shapeOf(one.appOrientation) : "none yet",
      "On air for": one.seconds.toFixed(0) + " s", "Turns of the picture": counters.formatChanges, "Frames dropped": dropped(counters), "Packets lost": counters.packetsLost,
      "Stream lost": counters.inputLosses + (counters.inputLosses === 1 ? " time" : " times"), "Waiting frames": counters.queueDepth
    };
    if (!numbers.children.length) for (const key of Object.keys(rows)) numbers.append(make("div", {}, make("dt", {}, key), make("dd", {})));
    for (const [index, value] of Object.values(rows).entries()) write(numbers.children[index].lastChild, value);
  }

  return { element: make("div", {}, make("div", { class: "charts" }, ...Object.values(charts).map(one => one.element)), numbers), show };
}
