import type { IncomingMessage, ServerResponse } from 'node:http';

export interface FormAnswer {
  readonly status: number;
  readonly text?: string;
  /** Default: plain text. */
  readonly contentType?: string;
}

export type FormHandler = (form: URLSearchParams) => FormAnswer;

const BYTES_MAX = 16 * 1024;

/** Reads a posted form, with the parameters of the address, and answers it. */
export async function answerForm(
  request: IncomingMessage,
  response: ServerResponse,
  input: { readonly query: URLSearchParams; readonly handler: FormHandler },
): Promise<void> {
  const body = await readBody(request);
  if (body === null) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  // The address was chosen by the operator, and goes before what the form says.
  const form = new URLSearchParams(body);
  for (const [name, value] of input.query) form.set(name, value);
  const { status, text = '', contentType = 'text/plain; charset=utf-8' } = input.handler(form);
  response.writeHead(status, text === '' ? {} : { 'content-type': contentType }).end(text);
}

/** Null if it is too long. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Otherwise returning destroys the socket, and 413 is never sent.
  const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of parts) {
    bytes += chunk.byteLength;
    if (bytes > BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
