import { EventEmitter } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Preloaded into a service as the control of a search for leaks: keeps some fifty bytes for each frame, or each
 * stream's socket with all that hangs on it.
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
