/** Times and sizes of a stream. */

/** How long `finish()` waits for a service that neither answers nor takes audio. */
export const FINISH_MS_MAX = 10_000;

/** A machine that is gone does not answer at all. A slow network takes seconds, which is known after the first time. */
export const OPEN_MS_FIRST = 10_000;
export const OPEN_MS_LEAST = 5_000;
export const OPEN_MS_MOST = 20_000;
/** The service gives up after 20 s and says so. This limit is for a service that hangs. */
export const READY_MS_MAX = 30_000;
/** After this long without progress or an event, the network counts as lost. */
export const STALL_MS_MAX = 20_000;
export const CLOSE_MS_MAX = 3_000;
export const CHECK_INTERVAL_MS = 100;

/** `write()` resolves while at most this much is unsent: 5 s of audio. */
export const UNSENT_BYTES_MAX = 5 * 32_000;
/** Hard limit for callers that don't await `write()`: 300 s, the longest session. */
export const QUEUE_BYTES_MAX = 300 * 32_000;
/** At most this much waits in the socket. The rest stays in the replay buffer. */
export const SOCKET_BYTES_MAX = 64 * 1024;
export const PUMP_MS = 20;
/** The service refuses more than five flushes a second. */
export const FLUSH_SPACING_MS = 250;
/** A pause: this many windows of 20 ms without speech. */
export const PAUSE_WINDOWS = 10;
/** Close to the audio limit the next pause is used to change sessions. */
export const ROLLOVER_AUDIO_MS = 10_000;
/** How long before the session's time limit the stream changes sessions. */
export const ROLLOVER_EARLY_MS = 60_000;
/** How long before the idle timeout the stream leaves the session. */
export const IDLE_EARLY_MS = 10_000;

/** One call of `getSession` may take this long: `SvcClient` itself waits for up to 90 s. */
export const GET_SESSION_MS_MAX = 120_000;
/** With an unused session of its own, the stream waits this long for another one. `SvcClient` would wait until it expires. */
export const ANOTHER_MS_MAX = 3_000;
/** A credential is valid for 60 s. The rest is for the connection. */
export const UNUSED_MS_MAX = 50_000;
/** How many lost sessions a new one is told of. The service reads no more. */
export const CONTINUES_MAX = 4;

/** A session this old proves that the trouble is over. Shorter ones don't reset the backoff. */
export const STABLE_MS = 5_000;
/** Give up after this long without a final or a stable session: the same audio would be replayed forever. */
export const GIVE_UP_MS = 120_000;
/** Before the first `ready` no audio can be lost, so the stream fails sooner. Longer than most outages of a network or database. */
export const GIVE_UP_FIRST_MS = 45_000;
/** Errors without a `retryable` field are retried this often. */
export const UNKNOWN_ERRORS_MAX = 3;
/** The first retry comes within this time, because a lost node or network interrupts many streams at one moment. */
export const FIRST_MS_MAX = 500;
/** The same after a connection that broke. */
export const FIRST_MS_MAX_LOST = 2_000;
