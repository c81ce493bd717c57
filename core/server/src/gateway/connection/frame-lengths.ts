/** Where a receiver of `ws` keeps the length of the frame that it reads. */
const LENGTH = '_payloadLength';

/** The part of a receiver of `ws` that reads the length of a frame. */
interface FrameReader {
  [LENGTH]: number;
  createError(
    kind: typeof RangeError,
    message: string,
    prefix: boolean,
    closeCode: number,
    code: string,
  ): Error;
}

type ReadLength = (this: FrameReader, done: (error: Error) => void) => void;

const UNKNOWN = 'This version of ws reads frames differently.';
const UNREAD = -1;

/** The methods of `ws` that read a length, and the smallest that needs so many bytes (RFC 6455, section 5.2). */
const LENGTHS = { getPayloadLength16: 126, getPayloadLength64: 65_536 } as const;

/**
 * Makes the receiver of a `ws` socket refuse a length that is written with more bytes than it needs. `ws` accepts it, but the
 * standard doesn't, and programs that read it differently could disagree where a frame ends. `ws` has no public hook for it:
 * its version is exact, and a test of the gateway fails if these methods change.
 */
export function refuseLongLengths(receiver: unknown): void {
  if (typeof receiver !== 'object' || receiver === null) throw new TypeError(UNKNOWN);
  for (const [name, least] of Object.entries(LENGTHS)) {
    const read: unknown = Reflect.get(receiver, name);
    if (!isReader(read)) throw new TypeError(UNKNOWN);
    Object.defineProperty(receiver, name, { value: refusing(read, least) });
  }
}

function isReader(read: unknown): read is ReadLength {
  return typeof read === 'function';
}

function refusing(read: ReadLength, least: number): ReadLength {
  return function (done) {
    this[LENGTH] = UNREAD;
    let failed = false;
    read.call(this, (error) => {
      failed = true;
      done(error);
    });
    const length = this[LENGTH];
    if (failed || length === UNREAD || length >= least) return;
    const message = 'Payload length is not minimal';
    done(this.createError(RangeError, message, true, 1002, 'WS_ERR_LENGTH_NOT_MINIMAL'));
  };
}
