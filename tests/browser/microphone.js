// Stands in for the microphone: what a test says is what the page hears, and nothing else.
//
// `scripted.say` takes 16-bit samples at 16 kHz in base64 and resolves when the last was said.

(() => {
  if (!navigator.mediaDevices) return; // a page that is still blank
  const RATE_HZ = 16000;
  let context = null;
  let out = null;
  let current = null;

  navigator.mediaDevices.getUserMedia = async () => {
    context ??= new AudioContext({ sampleRate: 48000 });
    out = context.createMediaStreamDestination();
    const quiet = new ConstantSourceNode(context, { offset: 0 });
    quiet.connect(out);
    quiet.start();
    await context.resume();
    return out.stream;
  };

  window.scripted = {
    get isOpen() {
      return out !== null;
    },
    say(base64) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const pcm = new Int16Array(bytes.buffer);
      const buffer = new AudioBuffer({ length: pcm.length, sampleRate: RATE_HZ });
      buffer.getChannelData(0).set(Float32Array.from(pcm, (sample) => sample / 32768));
      current = new AudioBufferSourceNode(context, { buffer });
      current.connect(out);
      const said = new Promise((resolve) => (current.onended = resolve));
      current.start();
      return said;
    },
    hush() {
      current?.stop();
    },
  };
})();
