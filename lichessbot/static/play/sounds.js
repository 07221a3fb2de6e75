/** Sounds, made of tones; they can be switched off, which the browser remembers. */

const TONES = {
  move: [[330, 0, 0.06]],
  capture: [[260, 0, 0.06], [180, 0.05, 0.08]],
  check: [[520, 0, 0.07], [660, 0.08, 0.09]],
  start: [[392, 0, 0.1], [523, 0.11, 0.14]],
  end: [[523, 0, 0.14], [392, 0.15, 0.14], [330, 0.3, 0.24]],
};
const VOLUME = 0.18;
let context = null, tones = 0;

export const isOn = () => localStorage.getItem('sound') !== 'off';

export function toggle() {
  localStorage.setItem('sound', isOn() ? 'off' : 'on');
  play('move');
}

/** Play a sound by its name. Browsers allow it once the person has touched the page. */
export function play(name) {
  if (!isOn() || !navigator.userActivation?.hasBeenActive) return;
  (context ??= new AudioContext()).resume();
  for (const [frequency, delay, length] of TONES[name]) {
    const start = context.currentTime + delay;
    const tone = new OscillatorNode(context, { type: 'triangle', frequency });
    const loudness = new GainNode(context, { gain: VOLUME });
    loudness.gain.setValueAtTime(VOLUME, start).exponentialRampToValueAtTime(0.001, start + length);
    tone.connect(loudness).connect(context.destination);
    tone.start(start);
    tone.stop(start + length);
    tones += 1;
    tone.onended = () => --tones || context.suspend();      // silence costs power too
  }
}
