import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const SLICE_BYTES = 16 * 1024;

/** One body for all clients, with its compressed forms. */
export interface SharedBody {
  readonly plain: Buffer;
  readonly brotli: Buffer | null;
  readonly gzip: Buffer | null;
}

/** Compresses once, with settings that take well under a second for a few megabytes. */
export async function compressBody(plain: Buffer): Promise<SharedBody> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(plain, { params }),
    promisify(gzip)(plain, { level: 6 }),
  ]);
  return { plain, brotli, gzip: gzipped };
}

/** Sends the smallest form that the client accepts, in slices. */
export function sendShared(
  reply: FastifyReply,
  body: SharedBody,
  request: FastifyRequest,
): FastifyReply {
  const { encoding, bytes } = encodeBody(body, request.headers['accept-encoding']);
  void reply.header('vary', 'accept-encoding').header('content-length', bytes.length);
  if (encoding !== null) void reply.header('content-encoding', encoding);
  return reply.send(sliceBody(bytes));
}

/** Chooses the smallest form that the client accepts. */
function encodeBody(
  body: SharedBody,
  acceptEncoding = '',
): { readonly encoding: 'br' | 'gzip' | null; readonly bytes: Buffer } {
  if (body.brotli !== null && accepts('br', acceptEncoding)) {
    return { encoding: 'br', bytes: body.brotli };
  }
  if (body.gzip !== null && accepts('gzip', acceptEncoding)) {
    return { encoding: 'gzip', bytes: body.gzip };
  }
  return { encoding: null, bytes: body.plain };
}

/** `gzip;q=0` means that the client cannot read gzip. */
export function accepts(encoding: string, acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0+)?$/.test(parameter));
  });
}

/**
 * Streams a shared buffer in slices. A client that doesn't read then holds one slice instead of an encrypted copy of
 * the whole body.
 */
function sliceBody(bytes: Buffer): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: SLICE_BYTES,
    read() {
      if (at >= bytes.length) {
        this.push(null);
        return;
      }
      this.push(bytes.subarray(at, at + SLICE_BYTES));
      at += SLICE_BYTES;
    },
  });
}
