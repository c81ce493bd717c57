import type { VirtualSocket } from '../virtual/socket.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { World } from '../world/world.ts';

/** When nothing is left to do, nothing may be held. */
export function checkEmpty(world: World): string[] {
  const problems: string[] = [];
  for (const [id, { engine, replay }] of world.nodes) {
    const { active } = engine.health();
    const { bytes, waiting, recovering } = replay.replays();
    if (active > 0) problems.push(`${id} still has ${active} engine streams`);
    if (bytes > 0) problems.push(`${id} keeps ${bytes} bytes for replay`);
    if (waiting + recovering > 0) problems.push(`${id} still recovers streams`);
  }
  for (const { plan, unanswered, outcome } of world.clients) {
    if (outcome !== 'vanished' && unanswered > 0) {
      problems.push(`${plan.name} waits for ${unanswered} answers although its stream is over`);
    }
  }
  return problems.map((problem) => `quiet: ${problem}`);
}

/** A process that has stopped leaves no timer and no connection behind. */
export function checkStopped(world: World): string[] {
  const problems: string[] = [];
  const stopped = [...world.nodes.keys(), ...world.apis.keys(), ...clientNames(world)];
  for (const id of stopped) {
    const process = world.processes.get(id);
    if (process === undefined) continue;
    for (const { run } of scheduler.timersOf(process)) {
      problems.push(`${id} still has a timer after it stopped: ${String(run).slice(0, 60)}`);
    }
  }
  for (const { host, client, server } of world.network.links()) {
    // Node's own server ends a connection without a request after a while. That is not simulated.
    const isUsed = server.bytesRead > 0;
    const isOpen = isUsed && !server.destroyed && server.owner?.isDead === false;
    if (isOpen) problems.push(`a connection to ${host} is still open`);
    // A client that has closed its side waits up to 65 s for a server that is gone.
    if (!client.destroyed && !client.writableEnded && client.owner?.isDead === false) {
      problems.push(`a client still holds a connection to ${host}`);
    }
  }
  return problems.map((problem) => `quiet: ${problem}`);
}

/** And later not even a client that waits for a server that is gone. */
export function checkDisconnected({ network }: World): string[] {
  const held = network.links().filter(({ client }) => !client.destroyed && !isDead(client));
  return held.map(({ host }) => `quiet: a client never gives up its connection to ${host}`);
}

function isDead({ owner }: VirtualSocket): boolean {
  return owner?.isDead !== false;
}

function clientNames({ clients }: World): string[] {
  return clients.map(({ plan }) => plan.name);
}
