import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@svc-asr/runtime/listen.ts';

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, 'service'>[] }[];
  }[];
}

/** Receives traces over OTLP/HTTP in JSON, like a collector. */
export class OtlpReceiver {
  readonly url: string;
  /** Every received request with its headers. */
  readonly requests: string[] = [];
  readonly spans: ReceivedSpan[] = [];
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    const port = await listen(server);
    const receiver = new OtlpReceiver(server, `http://127.0.0.1:${port}`);
    server.on('request', (request, response) => {
      void text(request).then((body) => {
        receiver.#receive(JSON.stringify(request.headers), body);
        response.setHeader('content-type', 'application/json').end('{}');
        return undefined;
      });
    });
    return receiver;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #receive(headers: string, body: string): void {
    this.requests.push(headers, body);
    const { resourceSpans }: TraceRequest = JSON.parse(body);
    for (const { resource, scopeSpans } of resourceSpans) {
      const named = resource.attributes.find(({ key }) => key === 'service.name');
      const service = named?.value.stringValue ?? '';
      for (const { spans } of scopeSpans) {
        this.spans.push(...spans.map((span) => ({ ...span, service })));
      }
    }
  }
}
