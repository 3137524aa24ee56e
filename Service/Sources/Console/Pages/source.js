// What is loaded of a stream or a file: the MediaSource of a video element, with one buffer.
export class MediaBuffer {
  // `noun` is what messages call it.
  constructor(video, noun) {
    Object.assign(this, { video, noun, source: null, buffer: null });
  }

  // Begins with a type, or goes on with another one.
  async open(type) {
    if (!type || !MediaSource.isTypeSupported(type)) throw new Error("This browser can't decode the " + this.noun + ".");
    if (this.buffer) return this.buffer.changeType(type);
    this.source = new MediaSource();
    const opened = new Promise(done => this.source.addEventListener("sourceopen", done, { once: true }));
    this.video.src = URL.createObjectURL(this.source);
    await opened;
    URL.revokeObjectURL(this.video.src);
    this.buffer = this.source.addSourceBuffer(type);
  }

  append(bytes) { return this.change(() => this.buffer.appendBuffer(bytes)); }

  remove(start, end) { return this.change(() => this.buffer.remove(start, end)); }

  change(body) {
    return new Promise((done, failed) => {
      this.buffer.onupdateend = done;
      this.buffer.onerror = () => failed(new Error("The " + this.noun + " can't be decoded."));
      body();
    });
  }
}

export const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));
