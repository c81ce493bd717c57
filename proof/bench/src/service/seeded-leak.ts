import { EventEmitter } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Preloaded into a service as the control of a leak test. Leaks about fifty bytes per frame, or each stream's socket and
 * everything it references.
 */
const held: unknown[] = [];
const leak = process.env['SEEDED_LEAK'];

class KeepingEmitter extends EventEmitter {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (leak === 'frame' && event === 'message') held.push({ one: 1, two: 2, three: 3 });
    if (leak === 'stream' && event === 'close') held.push(this);
    return super.emit(event, ...args);
  }
}

Object.setPrototypeOf(WebSocket.prototype, KeepingEmitter.prototype);
