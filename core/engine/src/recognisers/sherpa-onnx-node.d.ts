/** The part of sherpa-onnx-node that we use; the package ships no types. */
declare module 'sherpa-onnx-node' {
  export interface OnlineStream {
    acceptWaveform(audio: { samples: Float32Array; sampleRate: number }): void;
    setOption(key: string, value: string): void;
  }

  export interface OnlineRecognizerConfig {
    featConfig: { sampleRate: number; featureDim: number };
    modelConfig: {
      transducer: { encoder: string; decoder: string; joiner: string };
      tokens: string;
      numThreads: number;
      provider: string;
    };
    decodingMethod: string;
  }

  export interface OnlineRecognizerResult {
    text: string;
    tokens: string[];
    /** Seconds. */
    timestamps: number[];
    /** The natural logarithm of each token's probability, the dropped `<unk>` included. */
    ys_probs?: number[];
  }

  /** Every call blocks, and an error inside ends the whole process. */
  export class OnlineRecognizer {
    constructor(config: OnlineRecognizerConfig);
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    decodeStreams(streams: OnlineStream[]): void;
    getResult(stream: OnlineStream): OnlineRecognizerResult;
  }

  const sherpa: { OnlineRecognizer: typeof OnlineRecognizer };
  export default sherpa;
}
