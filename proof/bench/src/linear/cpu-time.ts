import { readdir, readFile } from 'node:fs/promises';

/** CPU time of a process and all its threads, in nanoseconds. */
export async function cpuNs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map(async (thread) => {
      // A thread can end in between.
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      return Number(text.split(' ')[0]);
    }),
  );
  return times.reduce((sum, time) => sum + time, 0);
}
