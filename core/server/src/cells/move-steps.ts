/** The state of a moving account in one cell's database. */
export interface Residence {
  /** Null: the account is served here. `absent`: it was never here. */
  readonly state: 'absent' | 'moving' | 'sealed' | 'moved' | 'arriving' | null;
  readonly moveId: string | null;
  /** The other cell of the last move. */
  readonly otherCell: string | null;
}

/**
 * - `freeze`: no new sessions in the source.
 * - `drain`: wait until the last session is settled, then seal the account.
 * - `copy`: write everything into the target, closed.
 * - `switch`: compare and audit both copies, then release the account in the source.
 * - `open`: let the target serve it.
 */
export type MoveStep = 'freeze' | 'drain' | 'copy' | 'switch' | 'open' | 'done';

export type NextStep =
  | { readonly step: MoveStep }
  | { readonly refuse: 'unknown' | 'elsewhere' | 'other-move' | 'in-both' };

/**
 * Returns the next step from the state of both databases. Nothing else is kept, so an interrupted move
 * resumes the same way.
 */
export function nextStep(input: {
  source: Residence;
  target: Residence;
  targetCell: string;
}): NextStep {
  const { source, target, targetCell } = input;
  const hasArrived = target.moveId !== null && target.moveId === source.moveId;
  switch (source.state) {
    case 'absent':
      return { refuse: 'unknown' };
    case 'arriving':
      return { refuse: 'other-move' };
    case 'moved':
      if (source.otherCell !== targetCell || !hasArrived) return { refuse: 'elsewhere' };
      return { step: target.state === 'arriving' ? 'open' : 'done' };
    case null:
    case 'moving':
    case 'sealed':
      if (isServing(target)) return { refuse: 'in-both' };
      if (source.state === null) return { step: 'freeze' };
      if (source.otherCell !== targetCell) return { refuse: 'other-move' };
      if (source.state === 'moving') return { step: 'drain' };
      return { step: target.state === 'arriving' && hasArrived ? 'switch' : 'copy' };
  }
}

function isServing({ state }: Residence): boolean {
  return state === null || state === 'moving' || state === 'sealed';
}
