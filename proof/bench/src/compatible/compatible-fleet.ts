import { makeCertificate, type TestCertificate } from '@svc-asr/testing/certificate.ts';
import { CompatibleProcess } from '@svc-asr/local/compatible-process.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { Fleet } from '../service/fleet.ts';

/** The service with the bundled models, an API process apart from its streaming node, and `svc-compatible`. */
export class CompatibleFleet {
  readonly fleet: Fleet;
  readonly api: ServiceProcess;
  readonly program: CompatibleProcess;
  /** The same program with TLS, which some clients insist on. */
  readonly tlsProgram: CompatibleProcess;
  readonly certificate: TestCertificate;
  readonly #nodePort: number;
  #node: ServiceProcess;

  private constructor(input: {
    fleet: Fleet;
    api: ServiceProcess;
    program: CompatibleProcess;
    tlsProgram: CompatibleProcess;
    certificate: TestCertificate;
    node: ServiceProcess;
    nodePort: number;
  }) {
    this.fleet = input.fleet;
    this.api = input.api;
    this.program = input.program;
    this.tlsProgram = input.tlsProgram;
    this.certificate = input.certificate;
    this.#node = input.node;
    this.#nodePort = input.nodePort;
  }

  static async start(): Promise<CompatibleFleet> {
    const fleet = await Fleet.start();
    try {
      const nodePort = await freePort();
      const [api, node] = await Promise.all([
        fleet.launch({ ROLE: 'api', NODE_ID: 'api' }),
        launchNode(fleet, nodePort),
      ]);
      const certificate = await makeCertificate();
      const tls = ['--tls-cert', certificate.certFile, '--tls-key', certificate.keyFile];
      const [program, tlsProgram] = await Promise.all([
        CompatibleProcess.start({ baseUrl: api.url }),
        CompatibleProcess.start({ baseUrl: api.url, args: ['--port', '0', ...tls] }),
      ]);
      const processes = { fleet, api, program, tlsProgram, node };
      return new CompatibleFleet({ ...processes, certificate, nodePort });
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  get url(): string {
    return this.program.url;
  }

  urlFor({ needsTls = false }: { readonly needsTls?: boolean }): string {
    return needsTls ? this.tlsProgram.url : this.program.url;
  }

  /** Kills the streaming node under its streams and starts it again. */
  async restartNode(): Promise<void> {
    this.#node.kill('SIGKILL');
    await this.#node.exited;
    this.#node = await launchNode(this.fleet, this.#nodePort);
  }

  async stop(): Promise<void> {
    await Promise.all([this.program.stop(), this.tlsProgram.stop()]);
    await this.fleet.stop();
  }
}

function launchNode(fleet: Fleet, port: number): Promise<ServiceProcess> {
  return fleet.launch({
    ROLE: 'node',
    NODE_ID: 'the-node',
    PORT: String(port),
    PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}`,
  });
}
