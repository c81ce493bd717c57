/** Something the operator can act on; printed without a stack. */
export class Problem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Problem';
  }
}
