import { NoiseFloor } from '../voice-activity/noise-floor.ts';

const ABOVE_FLOOR_DB = 4;
/** About 250 ms. */
const HANG_HOPS = 8;

/** Decides which hops are worth a look: those louder than the noise, and a quarter of a second after them. */
export class EnergyGate {
  readonly #floor = new NoiseFloor();
  #openHops = 0;

  /** Takes the next hop, in samples from -1 to 1. Returns whether the gate is open. */
  next(hop: Float32Array): boolean {
    let energy = 0;
    // An iterator would take twice as long.
    for (let at = 0; at < hop.length; at += 1) {
      const sample = hop[at] ?? 0;
      energy += sample * sample;
    }
    const levelDb = 10 * Math.log10(energy / hop.length + 1e-10);
    const isLoud = levelDb > this.#floor.update(levelDb) + ABOVE_FLOOR_DB;
    this.#openHops = isLoud ? HANG_HOPS : Math.max(0, this.#openHops - 1);
    return this.#openHops > 0;
  }
}
