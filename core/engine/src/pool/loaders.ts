import type { CtcLoader } from '../recognisers/ctc-loader.ts';
import type { ZipformerLoader } from '../recognisers/zipformer-loader.ts';

/** The loaders of a child. Each is imported with its libraries when weights need it, and then kept for the next ones. */
export class Loaders {
  #ctc: CtcLoader | undefined;
  #zipformer: ZipformerLoader | undefined;

  async ctc(): Promise<CtcLoader> {
    const { CtcLoader: Loader } = await import('../recognisers/ctc-loader.ts');
    this.#ctc ??= new Loader();
    return this.#ctc;
  }

  async zipformer(): Promise<ZipformerLoader> {
    const { ZipformerLoader: Loader } = await import('../recognisers/zipformer-loader.ts');
    this.#zipformer ??= new Loader();
    return this.#zipformer;
  }
}
