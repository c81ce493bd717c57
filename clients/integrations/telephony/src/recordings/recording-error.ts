/** Why a recording was not transcribed: the code is the event's `reason`, the text is for the operator. */
const REASONS = {
  host_not_allowed: 'Its address is not https:// on a host of --recordings-from.',
  private_address:
    'The name of its host leads to a private address. If that is right, use --recordings-from-private.',
  redirect_refused: 'Its server redirects to another host, or too often.',
  fetch_failed: 'Its server did not send it.',
  recording_too_large: 'It is larger than 100 MB.',
  timeout: 'It took too long.',
  stopped: 'The bridge stopped.',
} as const;

export class RecordingError extends Error {
  readonly code: keyof typeof REASONS;

  constructor(code: keyof typeof REASONS, cause?: unknown) {
    super(REASONS[code], { cause });
    this.code = code;
  }
}
