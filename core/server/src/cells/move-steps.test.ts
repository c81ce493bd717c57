import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextStep, type MoveStep, type Residence } from './move-steps.ts';

const ABSENT: Residence = { state: 'absent', moveId: null, otherCell: null };
const HERE: Residence = { state: null, moveId: null, otherCell: null };

/** Models how the SQL functions change two cells. Each step commits in one of them, or is lost. */
class Cells {
  source: Residence = HERE;
  target: Residence = ABSENT;
  #moves = 0;

  next() {
    return nextStep({ source: this.source, target: this.target, targetCell: 'k2' });
  }

  take(step: MoveStep): void {
    const { moveId } = this.source;
    switch (step) {
      case 'freeze':
        this.#moves += 1;
        this.source = { state: 'moving', moveId: `move ${this.#moves}`, otherCell: 'k2' };
        return;
      case 'drain':
        this.source = { ...this.source, state: 'sealed' };
        return;
      case 'copy':
        this.target = { state: 'arriving', moveId, otherCell: 'k1' };
        return;
      case 'switch':
        this.source = { ...this.source, state: 'moved' };
        return;
      case 'open':
        this.target = { ...this.target, state: null };
        return;
      case 'done':
    }
  }

  /** `cancel_move`: possible until the source has released the account. */
  cancel(): void {
    if (this.source.state === 'moving' || this.source.state === 'sealed') this.source = HERE;
  }

  get serving(): number {
    return [this.source, this.target].filter(({ state }) => state === null).length;
  }
}

const EVENTS = fc.array(fc.constantFrom('step', 'lost step', 'cancel'), { maxLength: 40 });

test('at most one cell serves the account, whichever step is killed or cancelled', () => {
  fc.assert(
    fc.property(EVENTS, (events) => {
      const cells = new Cells();
      for (const event of events) {
        const next = cells.next();
        expect(next).not.toHaveProperty('refuse');
        if (event === 'step' && 'step' in next) cells.take(next.step);
        if (event === 'cancel') cells.cancel();
        expect(cells.serving).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('an interrupted move finishes within five more steps', () => {
  fc.assert(
    fc.property(EVENTS, (events) => {
      const cells = new Cells();
      for (const event of events) {
        const next = cells.next();
        if (event === 'step' && 'step' in next) cells.take(next.step);
        if (event === 'cancel') cells.cancel();
      }
      for (let step = 0; step < 5; step += 1) {
        const next = cells.next();
        if ('step' in next) cells.take(next.step);
      }
      expect(cells.next()).toEqual({ step: 'done' });
      expect(cells.source.state).toBe('moved');
      expect(cells.target.state).toBeNull();
    }),
  );
});

test('a copy of an earlier, cancelled move is not switched to', () => {
  const source: Residence = { state: 'sealed', moveId: 'second', otherCell: 'k2' };
  const target: Residence = { state: 'arriving', moveId: 'first', otherCell: 'k1' };
  expect(nextStep({ source, target, targetCell: 'k2' })).toEqual({ step: 'copy' });
});

test('refuses an account that is unknown, elsewhere, on another move, or in both cells', () => {
  const moved: Residence = { state: 'moved', moveId: 'm', otherCell: 'k3' };
  const toAnother: Residence = { state: 'moving', moveId: 'm', otherCell: 'k3' };
  const refusals = [
    [ABSENT, ABSENT, 'unknown'],
    [moved, ABSENT, 'elsewhere'],
    [toAnother, ABSENT, 'other-move'],
    [HERE, HERE, 'in-both'],
  ] as const;
  for (const [source, target, refuse] of refusals) {
    expect(nextStep({ source, target, targetCell: 'k2' })).toEqual({ refuse });
  }
});
