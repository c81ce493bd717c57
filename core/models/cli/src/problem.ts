/** An error that the operator can act on, printed without a stack trace. */
export class Problem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Problem';
  }
}
