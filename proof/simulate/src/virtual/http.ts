import type { VirtualProcess } from './process.ts';

/** A request as the server sees it. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface HttpServer {
  readonly owner: VirtualProcess;
  answer(request: HttpRequest): Promise<HttpAnswer>;
}
