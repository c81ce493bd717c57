import { Server } from 'node:net';
import { expect, test, vi } from 'vitest';
import { exclusively } from './exclusive.ts';

test('runs the work of one of two callers, and of a folder beside it', async () => {
  const other = await exclusively('/a', () => exclusively('/a', async () => 'second'));
  expect(other).toBeNull();
  expect(await exclusively('/a', () => exclusively('/b', async () => 'second'))).toBe('second');
});

test('a machine without free sockets is no other process', async () => {
  vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function fail(this: Server) {
    const error = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    queueMicrotask(() => this.emit('error', error));
    return this;
  });
  await expect(exclusively('/a', async () => 'done')).rejects.toThrow('too many open files');
});
